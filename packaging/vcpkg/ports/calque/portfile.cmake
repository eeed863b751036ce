# SPDX-License-Identifier: MIT
# An overlay port: it installs the checkout that it lies in.
#
#     vcpkg install calque --overlay-ports=calque/packaging/vcpkg/ports
set(VCPKG_BUILD_TYPE release) # headers only

get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DCALQUE_BUILD_TESTS=OFF
        -DCALQUE_BUILD_EXAMPLES=OFF
        -DCALQUE_BUILD_BENCHMARKS=OFF
        -DCALQUE_INSTALL=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME calque CONFIG_PATH share/cmake/calque)
vcpkg_fixup_pkgconfig()

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
