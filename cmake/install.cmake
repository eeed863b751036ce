# SPDX-License-Identifier: MIT
# Installs the headers, a CMake package and a pkg-config file. A header-only library fits every architecture.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_DATAROOTDIR}/cmake/calque)

install(TARGETS calque EXPORT calqueTargets FILE_SET HEADERS)
install(EXPORT calqueTargets NAMESPACE calque:: DESTINATION ${package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/calqueConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/cmake/calqueConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/calqueConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/cmake/calqueConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/calqueConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/calqueCompilerOptions.cmake
        DESTINATION ${package_dir})

configure_file(${CMAKE_CURRENT_LIST_DIR}/calque.pc.in ${PROJECT_BINARY_DIR}/cmake/calque.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/calque.pc DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/pkgconfig)
