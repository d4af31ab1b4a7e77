//! The admin calls of librdkafka as async functions: one result queue, one thread that waits on it, and for each call
//! a one-shot channel that travels through librdkafka as the call's opaque pointer.
//!
//! librdkafka sends exactly one event for each call, also on time-out. Everything in a result belongs to the event, so
//! results are copied into model data before the event's guard is dropped.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rdkafka::bindings as rd;
use rdkafka::consumer::{BaseConsumer, Consumer};
use tokio::sync::oneshot;

use super::client::{Client, Context};
use super::error::{CallError, name};

/// How long past librdkafka's own time-out we wait for its event.
const GRACE: Duration = Duration::from_millis(500);

/// The admin calls over one client.
pub struct Admin {
    queue: Queue,
    /// Deadline of one call.
    timeout: Duration,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Last, so that it outlives the queue.
    consumer: Arc<BaseConsumer<Context>>,
}

/// The queue on which results arrive.
#[derive(Clone, Copy)]
struct Queue(*mut rd::rd_kafka_queue_t);

// SAFETY: librdkafka's queues are thread-safe; `Admin` destroys it after the thread that reads it has ended.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

/// One result, destroyed with the guard.
pub(super) struct Event(*mut rd::rd_kafka_event_t);

// SAFETY: an event belongs to whoever took it from the queue and is bound to no thread.
unsafe impl Send for Event {}

impl Event {
    pub(super) fn raw(&self) -> *mut rd::rd_kafka_event_t {
        self.0
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `rd_kafka_queue_poll` and is destroyed once.
        unsafe { rd::rd_kafka_event_destroy(self.0) }
    }
}

/// Options of one call; freed with the guard.
pub(super) struct Options(*mut rd::rd_kafka_AdminOptions_t);

impl Options {
    pub(super) fn raw(&self) -> *mut rd::rd_kafka_AdminOptions_t {
        self.0
    }
}

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: created by `rd_kafka_AdminOptions_new`, freed once; calls copy their options.
        unsafe { rd::rd_kafka_AdminOptions_destroy(self.0) }
    }
}

impl Admin {
    /// `timeout`: deadline of each call.
    pub fn new(client: &Client, timeout: Duration) -> std::io::Result<Self> {
        let consumer = Arc::clone(&client.consumer);
        // SAFETY: the handle is alive: `consumer` keeps it so for as long as the queue.
        let queue = Queue(unsafe { rd::rd_kafka_queue_new(consumer.client().native_ptr()) });
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let (stop, consumer) = (Arc::clone(&stop), Arc::clone(&consumer));
            std::thread::Builder::new().name("kafka-results".into()).spawn(move || serve(queue, &stop, &consumer))?
        };
        Ok(Self { queue, timeout, stop, thread: Some(thread), consumer })
    }

    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(super) fn rk(&self) -> *mut rd::rd_kafka_t {
        self.consumer.client().native_ptr()
    }

    pub(super) fn consumer(&self) -> Arc<BaseConsumer<Context>> {
        Arc::clone(&self.consumer)
    }

    /// Starts a call and returns a future of its result. `submit` gets the handle, the options and the queue, and must
    /// start exactly one call with them. No raw pointer lives across an await.
    pub(super) fn call<T>(
        &self,
        op: rd::rd_kafka_admin_op_t,
        submit: impl FnOnce(*mut rd::rd_kafka_t, &Options, *mut rd::rd_kafka_queue_t),
        read: impl FnOnce(&Event) -> Result<T, CallError>,
    ) -> impl Future<Output = Result<T, CallError>> {
        let receiver = self.submit(op, submit);
        let deadline = self.timeout + GRACE;
        async move {
            // The sender is dropped without an answer only when the client is being closed.
            let Ok(Ok(event)) = tokio::time::timeout(deadline, receiver).await else {
                return Err(CallError::Timeout);
            };
            // SAFETY: the event is alive; the string belongs to it.
            let (code, text) =
                unsafe { (rd::rd_kafka_event_error(event.raw()), name(rd::rd_kafka_event_error_string(event.raw()))) };
            match CallError::from_code(code) {
                Some(_) => Err(CallError::new(code, text)),
                None => read(&event),
            }
        }
    }

    fn submit(
        &self,
        op: rd::rd_kafka_admin_op_t,
        submit: impl FnOnce(*mut rd::rd_kafka_t, &Options, *mut rd::rd_kafka_queue_t),
    ) -> oneshot::Receiver<Event> {
        let (sender, receiver) = oneshot::channel::<Event>();
        let timeout = i32::try_from(self.timeout.as_millis()).unwrap_or(i32::MAX);
        let mut why = [0; 256];
        // SAFETY: the handle is alive; the options are checked for NULL by the assertion of librdkafka itself (it
        // aborts when out of memory). `why` is as long as we say. The opaque pointer is a box that `serve` takes back
        // from the call's only event.
        let options = unsafe {
            let options = Options(rd::rd_kafka_AdminOptions_new(self.rk(), op));
            rd::rd_kafka_AdminOptions_set_request_timeout(options.raw(), timeout, why.as_mut_ptr(), why.len());
            rd::rd_kafka_AdminOptions_set_opaque(options.raw(), Box::into_raw(Box::new(sender)).cast::<c_void>());
            options
        };
        submit(self.rk(), &options, self.queue.0);
        receiver
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // SAFETY: the only reader has ended; the handle is still alive.
        unsafe { rd::rd_kafka_queue_destroy(self.queue.0) }
    }
}

/// The thread: hands each event to the call that waits for it, and serves the callbacks of the client.
fn serve(queue: Queue, stop: &AtomicBool, consumer: &BaseConsumer<Context>) {
    while !stop.load(Ordering::Acquire) {
        // SAFETY: the queue is destroyed only after this thread has ended.
        let event = unsafe { rd::rd_kafka_queue_poll(queue.0, 100) };
        if event.is_null() {
            // Errors and logs come to the consumer's own queue, one a poll; there are no messages, since nothing is
            // assigned.
            for _ in 0..8 {
                let _ = consumer.poll(Duration::ZERO);
            }
            continue;
        }
        // SAFETY: not NULL, ours from here on.
        let (event, opaque) = unsafe { (Event(event), rd::rd_kafka_event_opaque(event)) };
        if !opaque.is_null() {
            // SAFETY: `submit` made this box for this call, and the call has this one event.
            let sender = unsafe { Box::from_raw(opaque.cast::<oneshot::Sender<Event>>()) };
            let _ = sender.send(event);
        }
    }
}

/// Borrows a C array of pointers as a slice; empty for NULL or no elements.
///
/// # Safety
/// `array` must be NULL or point to `count` pointers that live for `'a`.
pub(super) unsafe fn slice<'a, T>(array: *const *const T, count: usize) -> &'a [*const T] {
    if array.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(array, count) }
}
