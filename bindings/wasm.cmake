# octavo.mjs and octavo.wasm, and in the simd128 build their TypeScript types, octavo.d.ts.
add_executable(octavo_wasm bindings/embind.cc)
set_target_properties(octavo_wasm PROPERTIES OUTPUT_NAME octavo SUFFIX .mjs)
target_link_libraries(octavo_wasm PRIVATE octavo_engine)
target_compile_definitions(octavo_wasm PRIVATE EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)  # as there is no RTTI
target_link_options(octavo_wasm PRIVATE
  -lembind -fno-exceptions -fno-rtti
  -sMODULARIZE -sEXPORT_ES6 -sENVIRONMENT=web,worker,node
  -sDYNAMIC_EXECUTION=0  # Embind without eval: a page needs only 'wasm-unsafe-eval'
  -sFILESYSTEM=0 -sSUPPORT_LONGJMP=0 -sMALLOC=emmalloc
  -sINITIAL_MEMORY=1MB -sSTACK_SIZE=256kB -sALLOW_MEMORY_GROWTH
  -sINCOMING_MODULE_JS_API=[locateFile,wasmBinary,instantiateWasm])
if(NOT OCTAVO_RELAXED_SIMD)
  # Emscripten runs the module to find its types, in a Node that may lack relaxed SIMD.
  target_link_options(octavo_wasm PRIVATE --emit-tsd octavo.d.ts)
endif()

# probe.mjs and probe.wasm: what `npm run bench` measures with; built by it only.
add_executable(octavo_probe EXCLUDE_FROM_ALL engine/bench/probe.cc engine/bench/profiler.cc)
set_target_properties(octavo_probe PROPERTIES OUTPUT_NAME probe SUFFIX .mjs)
target_include_directories(octavo_probe PRIVATE engine/bench)
target_link_libraries(octavo_probe PRIVATE octavo_engine)
target_compile_definitions(octavo_probe PRIVATE EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)
target_link_options(octavo_probe PRIVATE
  -lembind -fno-exceptions -fno-rtti -sMODULARIZE -sEXPORT_ES6 -sENVIRONMENT=web,node -sDYNAMIC_EXECUTION=0
  -sFILESYSTEM=0 -sMALLOC=emmalloc -sALLOW_MEMORY_GROWTH)
