//! LiteSVM behind three exported functions: the module that sdk/localnet/engine runs.
//!
//! The host reserves a request buffer, writes a request to it and calls `engine_call`, which returns the
//! address (high 32 bits) and length (low 32 bits) of the response. Both stay valid until the next call.
//! Numbers are little-endian; byte strings start with their length (u32). Every response starts with a status
//! byte: [`OK`], or [`ERROR`] and a UTF-8 text. An error leaves the accounts unchanged.
//!
//! The module checks neither signatures nor blockhashes: the ledger does, which knows its clock and its blocks.

mod engine;
mod wire;

use std::cell::RefCell;

use engine::Engine;

/// The response follows.
pub const OK: u8 = 0;
/// A text follows.
pub const ERROR: u8 = 1;

struct Module {
    engine: Option<Engine>,
    request: Vec<u8>,
    response: Vec<u8>,
}

thread_local! {
    static MODULE: RefCell<Module> =
        const { RefCell::new(Module { engine: None, request: Vec::new(), response: Vec::new() }) };
}

/// Makes room for a request of so many bytes and returns the buffer's address.
#[no_mangle]
pub extern "C" fn engine_reserve(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.request.clear();
        module.request.shrink_to(64 << 10);
        module.request.resize(length, 0);
        module.request.as_mut_ptr()
    })
}

/// Executes an operation on the reserved request.
#[no_mangle]
pub extern "C" fn engine_call(operation: u32) -> u64 {
    MODULE.with_borrow_mut(|module| {
        let engine = module.engine.get_or_insert_with(Engine::new);
        module.response.clear();
        module.response.shrink_to(64 << 10);
        module.response.push(OK);
        if let Err(text) = engine.call(operation, &module.request, &mut module.response) {
            module.response.clear();
            module.response.push(ERROR);
            module.response.extend_from_slice(text.as_bytes());
        }
        ((module.response.as_ptr() as usize as u64) << 32) | module.response.len() as u64
    })
}
