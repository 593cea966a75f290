// See dlopen.cpp.
#pragma once

#include <string>

namespace libsplit {

/// The loader that knows no layers which the program opened with dlopen and got libsplit for; null
/// if it did not.
void* loaderThatWasOpened();

/// dlopen as if libsplit did not stand before it: now, and for this library alone.
void* openLibrary(const char* name);

/// Has the library that the function lies in stay for good, whoever closes it.
void keepLibraryOf(const void* function);

/// Where this library lies; empty if that can't be told.
std::string ownPath();

} // namespace libsplit
