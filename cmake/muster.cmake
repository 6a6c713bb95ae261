# Build rules shared by all folders.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

option(MUSTER_PRECOMPILED "Read the headers of the standard library and GoogleTest once" OFF)

find_program(MUSTER_CCACHE ccache)
if(MUSTER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MUSTER_CCACHE})
  if(MUSTER_PRECOMPILED)  # ccache's manual, "Precompiled headers"
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
                                    CCACHE_SLOPPINESS=pch_defines,time_macros ${MUSTER_CCACHE})
  endif()
endif()
find_program(MUSTER_MOLD mold)
if(MUSTER_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

# Everything a translation unit of ours gets: include root, warnings, sanitizers.
add_library(muster_flags INTERFACE)
target_include_directories(muster_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(muster_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                              -Wnon-virtual-dtor)
if(MUSTER_WERROR)
  target_compile_options(muster_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # std::stable_sort of GCC's library uses what the same library calls deprecated; clang complains
  # of that at our call. GCC still warns where we use something deprecated ourselves.
  target_compile_options(muster_flags INTERFACE -Wthread-safety -Wno-deprecated-declarations)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in its own std::string at -O2 (its bug 105651, gone in 13).
  target_compile_options(muster_flags INTERFACE -Wno-restrict)
endif()
if(MUSTER_SANITIZE)
  target_compile_options(muster_flags INTERFACE -fsanitize=${MUSTER_SANITIZE}
                                                -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(muster_flags INTERFACE -fsanitize=${MUSTER_SANITIZE})
endif()
if(MUSTER_FUZZ)
  # Coverage feedback in every library; the fuzz targets alone get libFuzzer's main (fuzz/).
  target_compile_options(muster_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  # simdjson's classes have members of their own where its checks are on, which it decides by the
  # optimisation of each file: said here, they are the same in all (muster_busy).
  target_compile_definitions(muster_flags INTERFACE _GLIBCXX_ASSERTIONS SIMDJSON_DEVELOPMENT_CHECKS=1)
endif()

if(MUSTER_TESTS)
  find_package(GTest REQUIRED)
endif()

# Half of the time of a debug build goes into headers that every file reads. Only one preset reads
# them once: the others see to it that each file includes what it uses.
if(MUSTER_PRECOMPILED)
  set(headers <algorithm> <array> <chrono> <cstdint> <functional> <map> <memory> <optional> <set> <span>
      <string> <string_view> <tuple> <utility> <variant> <vector> <fmt/core.h> <tl/expected.hpp>)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cc "")
  # Some libraries ask for it, and it is a macro: precompiled headers need the same in all files.
  target_compile_options(muster_flags INTERFACE -pthread)
  add_library(muster_headers OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(muster_headers PRIVATE muster_flags fmt::fmt)
  target_precompile_headers(muster_headers PRIVATE ${headers})
  if(MUSTER_TESTS)
    add_library(muster_test_headers OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
    target_link_libraries(muster_test_headers PRIVATE muster_flags fmt::fmt GTest::gtest)
    target_precompile_headers(muster_test_headers PRIVATE ${headers} <gtest/gtest.h>)
  endif()
endif()

# muster_busy(muster_core_flight)
# Debug builds do not optimise: with sanitizers that halves the time of a build. Where tests then
# run for minutes, the library is optimised all the same.
function(muster_busy NAME)
  target_compile_options(${NAME} PRIVATE $<$<CONFIG:Debug>:-O1>)
  set_target_properties(${NAME} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)  # they are not optimised
endfunction()

# muster_library(core_model SOURCES a.cc DEPS muster_base PRIVATE simdjson TESTS a_test.cc)
# Makes the library muster_core_model and the test program core_model_test, known to ctest.
function(muster_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE;TESTS;TEST_DEPS" ${ARGN})
  add_library(muster_${NAME} STATIC ${ARG_SOURCES})
  target_link_libraries(muster_${NAME} PUBLIC muster_flags ${ARG_DEPS} PRIVATE ${ARG_PRIVATE})
  if(MUSTER_PRECOMPILED)
    target_precompile_headers(muster_${NAME} REUSE_FROM muster_headers)
  endif()
  if(MUSTER_TESTS AND ARG_TESTS)
    muster_test(${NAME}_test SOURCES ${ARG_TESTS} DEPS muster_${NAME} ${ARG_TEST_DEPS})
  endif()
endfunction()

# muster_test(tidy_test SOURCES tidy_test.cc DEPS muster_base)
function(muster_test NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE muster_flags ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${NAME} PRIVATE
    MUSTER_SOURCE_DIR="${PROJECT_SOURCE_DIR}" MUSTER_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(MUSTER_PRECOMPILED)
    target_precompile_headers(${NAME} REUSE_FROM muster_test_headers)
  endif()
  add_test(NAME ${NAME} COMMAND ${NAME})
  set_tests_properties(${NAME} PROPERTIES TIMEOUT 300)
endfunction()
