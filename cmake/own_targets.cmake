# SPDX-License-Identifier: MIT
# How the programs of this repository are compiled; nothing here reaches a user of the library.

# The flags the documentation asks users for: without contraction every compiler makes the same kernel of a graph, so
# that results can be compared bit for bit.
add_library(calque_own_flags INTERFACE)
target_compile_options(calque_own_flags INTERFACE -ffp-contract=off $<$<BOOL:${CALQUE_NATIVE}>:-march=native>
    # clang 19 warns of what its own -march=native says of an Intel Granite Rapids.
    $<$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,19>>:-Wno-invalid-feature-combination>)

add_library(calque_own_warnings INTERFACE)
target_compile_options(calque_own_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
    # g++ 12 warns of "a" + std::string("b") (its bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(CALQUE_CCACHE ccache)
    if(CALQUE_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER ${CALQUE_CCACHE})
    endif()
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

# The names of tests begin with this, so that one run of ctest over several builds tells them apart.
set(CALQUE_TEST_PREFIX "" CACHE STRING "What the name of every test begins with")

# An executable that is compiled like all of ours.
function(calque_add_executable name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE calque::calque calque_own_flags calque_own_warnings)
endfunction()

# A test that runs from the repository's root: calque_add_test(name LABELS ... COMMAND ...).
function(calque_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS;COMMAND")
    set(test ${CALQUE_TEST_PREFIX}${name})
    add_test(NAME ${test} COMMAND ${arg_COMMAND} COMMAND_EXPAND_LISTS WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600)
endfunction()

# Sets `result` to the command line, less the source, that compiles a program like ours outside the build.
function(calque_compile_command result)
    set(options "")
    foreach(target calque calque_own_flags calque_own_warnings)
        list(APPEND options "$<TARGET_PROPERTY:${target},INTERFACE_COMPILE_OPTIONS>")
    endforeach()
    foreach(library xtensor xsimd xtl)
        get_target_property(folders ${library} INTERFACE_INCLUDE_DIRECTORIES)
        list(REMOVE_ITEM folders ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
        list(TRANSFORM folders PREPEND -isystem)
        list(APPEND options ${folders})
    endforeach()
    set(${result} ${CMAKE_CXX_COMPILER} -std=c++20 -I${PROJECT_SOURCE_DIR}/include ${options} PARENT_SCOPE)
endfunction()
