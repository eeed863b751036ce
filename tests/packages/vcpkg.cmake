# SPDX-License-Identifier: MIT
# Runs the vcpkg port where no vcpkg is: the functions that vcpkg gives a portfile are defined here, as far as the port
# uses them, and what it leaves in its package is looked at.
#
#     cmake -DFOLDER=... -DCXX=... -DVERSION=... -P vcpkg.cmake
cmake_minimum_required(VERSION 3.25)

set(port_dir ${CMAKE_CURRENT_LIST_DIR}/../../packaging/vcpkg/ports/calque)
file(REMOVE_RECURSE ${FOLDER})

function(require)
    if(NOT (${ARGV}))
        string(REPLACE ";" " " condition "${ARGV}")
        message(FATAL_ERROR "not so: ${condition}")
    endif()
endfunction()

# ---- the manifest

file(READ ${port_dir}/vcpkg.json manifest)
string(JSON name GET "${manifest}" name)
string(JSON version GET "${manifest}" version-semver)
string(JSON license GET "${manifest}" license)
string(JSON last LENGTH "${manifest}" dependencies)
math(EXPR last "${last} - 1")
set(dependencies "")
foreach(i RANGE ${last})
    string(JSON type TYPE "${manifest}" dependencies ${i})
    if(type STREQUAL "OBJECT")
        string(JSON dependency GET "${manifest}" dependencies ${i} name)
        string(JSON host GET "${manifest}" dependencies ${i} host)
        require(host)
    else()
        string(JSON dependency GET "${manifest}" dependencies ${i})
    endif()
    list(APPEND dependencies ${dependency})
endforeach()
require(name STREQUAL "calque")
require(version STREQUAL VERSION)
require(license STREQUAL "MIT")
list(JOIN dependencies " " dependencies)
require(dependencies STREQUAL "vcpkg-cmake vcpkg-cmake-config xsimd xtensor")

# ---- the portfile

set(PORT calque)
set(CURRENT_PACKAGES_DIR ${FOLDER}/packages)

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    require(NOT DEFINED arg_UNPARSED_ARGUMENTS)
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${FOLDER}/build -DCMAKE_CXX_COMPILER=${CXX}
                            -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} ${arg_OPTIONS}
                    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_install)
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${FOLDER}/build COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Moves the package's CMake files to share/NAME, as vcpkg wants them.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
    require(NOT DEFINED arg_UNPARSED_ARGUMENTS)
    require(EXISTS ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/${arg_PACKAGE_NAME}Config.cmake)
    file(RENAME ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH} ${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME})
    file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/share/cmake)
endfunction()

function(vcpkg_fixup_pkgconfig)
    require(EXISTS ${CURRENT_PACKAGES_DIR}/share/pkgconfig/calque.pc)
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    file(INSTALL ${arg_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT} RENAME copyright)
endfunction()

include(${port_dir}/portfile.cmake)

require(VCPKG_BUILD_TYPE STREQUAL "release")
foreach(file IN ITEMS include/calque/calque.hpp share/calque/calqueConfig.cmake share/calque/usage
                      share/calque/copyright)
    require(EXISTS ${CURRENT_PACKAGES_DIR}/${file})
endforeach()
file(GLOB left RELATIVE ${CURRENT_PACKAGES_DIR} ${CURRENT_PACKAGES_DIR}/* ${CURRENT_PACKAGES_DIR}/share/*)
list(JOIN left " " left)
require(left STREQUAL "include share share/calque share/pkgconfig")

# What the port says about its use is so.
file(READ ${port_dir}/usage usage)
string(REGEX MATCH "find_package\\(calque CONFIG REQUIRED\\)" finds "${usage}")
string(REGEX MATCH "target_link_libraries\\(main PRIVATE calque::calque\\)" links "${usage}")
require(finds AND links)
