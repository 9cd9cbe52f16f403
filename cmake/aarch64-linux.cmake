# Linux on arm64, by Debian's cross compiler (g++-aarch64-linux-gnu). What is built runs under qemu-user, if that is here.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
find_program(MUSE_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(MUSE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MUSE_QEMU} -L /usr/aarch64-linux-gnu)
endif()
