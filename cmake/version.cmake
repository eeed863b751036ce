# SPDX-License-Identifier: MIT
# The version has one source: the macros in config.hpp.

# Sets `result` to "major.minor.patch" as `header` defines it, and configures again when the header changes.
function(calque_read_version result header)
    set(parts "")
    foreach(part MAJOR MINOR PATCH)
        file(STRINGS ${header} line REGEX "^#define CALQUE_VERSION_${part} [0-9]+$")
        if(NOT line MATCHES "([0-9]+)$")
            message(FATAL_ERROR "${header} does not define CALQUE_VERSION_${part} as a number")
        endif()
        list(APPEND parts ${CMAKE_MATCH_1})
    endforeach()
    list(JOIN parts "." version)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    set(${result} ${version} PARENT_SCOPE)
endfunction()
