// The trie's builder throws when it is given what ModelProto::parse has refused before. The
// WebAssembly build has no exceptions; should that ever happen there, it ends the module.
#include <cstddef>
#include <cstdlib>

extern "C" {
void* __cxa_allocate_exception(std::size_t) { std::abort(); }
void __cxa_throw(void*, void*, void (*)(void*)) { std::abort(); }
}
