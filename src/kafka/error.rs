//! Why a call to Kafka failed.

use std::ffi::CStr;
use std::os::raw::c_char;

use rdkafka::bindings as rd;
use thiserror::Error;

use crate::model::Name;

/// A failed call, or a failed part of one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallError {
    /// Nobody answered within the deadline.
    #[error("no answer within the deadline")]
    Timeout,
    /// An error code of the Kafka protocol (positive) or of librdkafka (negative), with its text.
    #[error("{text} ({code})")]
    Code { code: i32, text: Name },
}

impl CallError {
    pub(super) fn new(code: rd::rd_kafka_resp_err_t, text: Option<Name>) -> Self {
        let number = code as i32;
        // _TIMED_OUT and _TIMED_OUT_QUEUE
        if number == -185 || number == -166 {
            return Self::Timeout;
        }
        let text = text.unwrap_or_else(|| text_of(code));
        Self::Code { code: number, text }
    }

    /// `None` if the code says that there is no error.
    pub(super) fn from_code(code: rd::rd_kafka_resp_err_t) -> Option<Self> {
        (code as i32 != 0).then(|| Self::new(code, None))
    }

    /// The error code of the Kafka protocol; negative ones are librdkafka's own.
    pub fn code(&self) -> Option<i32> {
        match self {
            Self::Timeout => None,
            Self::Code { code, .. } => Some(*code),
        }
    }
}

/// Copies a C string that librdkafka owns; `None` for NULL.
#[allow(unsafe_code)]
pub(super) fn name(text: *const c_char) -> Option<Name> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not NULL, and librdkafka's strings are NUL-terminated and live as long as the object that the caller holds.
    Some(Name::from_bytes(unsafe { CStr::from_ptr(text) }.to_bytes()))
}

#[allow(unsafe_code)]
fn text_of(code: rd::rd_kafka_resp_err_t) -> Name {
    // SAFETY: takes a plain enum, returns a static string.
    name(unsafe { rd::rd_kafka_err2str(code) }).unwrap_or_default()
}

/// The error of a result object; `None` where the pointer is NULL or the code says "no error".
#[allow(unsafe_code)]
pub(super) fn of(error: *const rd::rd_kafka_error_t) -> Option<CallError> {
    if error.is_null() {
        return None;
    }
    // SAFETY: not NULL; the object belongs to the event that the caller holds.
    let (code, text) = unsafe { (rd::rd_kafka_error_code(error), rd::rd_kafka_error_string(error)) };
    (code as i32 != 0).then(|| CallError::new(code, name(text)))
}
