# SPDX-License-Identifier: MIT
# What a compiler needs to read xtensor's headers. Used by our own build and by the installed package, because the
# answer depends on the xtensor that is found there.

# clang 19 took over C++17's matching of template template parameters, under which xt::xarray of xtensor before 0.26
# is ambiguous. The second option silences clang's notice that the first one will go away.
function(calque_add_compiler_options target)
    if(xtensor_VERSION VERSION_LESS 0.26)
        set(newer_clang "$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,19>>")
        set(options -fno-relaxed-template-template-args -Wno-deprecated-no-relaxed-template-template-args)
        target_compile_options(${target} INTERFACE "$<BUILD_INTERFACE:$<${newer_clang}:${options}>>")
    endif()
endfunction()
