//! DescribeConfigs: configurations of topics, and of a broker.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::CString;

use rdkafka::bindings as rd;
use rdkafka::bindings::rd_kafka_ResourceType_t as Type;
use rdkafka::bindings::rd_kafka_admin_op_t as Op;

use super::admin::{Admin, slice};
use super::error::{CallError, name};
use super::groups::c_string;
use crate::model::Name;

/// What has a configuration (`ConfigResource.Type`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Needs DESCRIBE_CONFIGS on the topic.
    Topic(Name),
    /// Its id; needs DESCRIBE_CONFIGS on the cluster.
    Broker(i32),
}

/// The values of a resource by their names, or why there are none.
pub type Values = Result<BTreeMap<String, Name>, CallError>;

/// The answer for each resource.
pub type Configs = BTreeMap<Resource, Values>;

impl Admin {
    /// DescribeConfigs of one broker and some topics, in one request to that broker: without a broker librdkafka would
    /// wait for the controller. Names that the broker does not know are left out. librdkafka's cost is quadratic in the
    /// number of topics: ask for at most a few hundred in a call.
    pub async fn describe_configs(
        &self,
        broker: i32,
        of_broker: &[&str],
        topics: &[Name],
        of_topic: &[&str],
    ) -> Result<Configs, CallError> {
        let raw = |names: &[&str]| names.iter().map(|name| c_string(&Name::new(*name))).collect::<Vec<_>>();
        let (of_broker, of_topic) = (raw(of_broker), raw(of_topic));
        let mut resources =
            vec![(Type::RD_KAFKA_RESOURCE_BROKER, c_string(&Name::from(broker.to_string())), of_broker)];
        resources.extend(topics.iter().map(|topic| (Type::RD_KAFKA_RESOURCE_TOPIC, c_string(topic), of_topic.clone())));
        self.call(
            Op::RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS,
            |rk, options, queue| {
                // SAFETY: valid C strings, copied into the resources, which the call copies and we free. Those that
                // cannot be made (no name) are NULL and left out.
                unsafe {
                    let made = resources.iter().map(|(kind, name, wanted)| resource(*kind, name, wanted));
                    let mut made: Vec<_> = made.filter(|resource| !resource.is_null()).collect();
                    rd::rd_kafka_DescribeConfigs(rk, made.as_mut_ptr(), made.len(), options.raw(), queue);
                    rd::rd_kafka_ConfigResource_destroy_array(made.as_mut_ptr(), made.len());
                }
            },
            |event| {
                // SAFETY: the event is of this call, so the cast holds; what is read belongs to the event.
                unsafe {
                    let result = rd::rd_kafka_event_DescribeConfigs_result(event.raw());
                    let mut count = 0;
                    let rows = rd::rd_kafka_DescribeConfigs_result_resources(result, &raw mut count);
                    Ok(slice(rows.cast_const(), count).iter().filter_map(|row| values(*row)).collect())
                }
            },
        )
        .await
    }
}

/// A resource of which these names are wanted; NULL if it has no name.
///
/// # Safety
/// Whoever calls must free it.
unsafe fn resource(kind: Type, resource: &CString, wanted: &[CString]) -> *mut rd::rd_kafka_ConfigResource_t {
    // SAFETY: valid C strings, copied by the calls; nothing is added to NULL.
    unsafe {
        let made = rd::rd_kafka_ConfigResource_new(kind, resource.as_ptr());
        if !made.is_null() {
            for name in wanted {
                // The value counts for nothing here, and may not be NULL.
                rd::rd_kafka_ConfigResource_set_config(made, name.as_ptr(), c"".as_ptr());
            }
        }
        made
    }
}

/// # Safety
/// `row` must be NULL or belong to a living DescribeConfigs event.
unsafe fn values(row: *const rd::rd_kafka_ConfigResource_t) -> Option<(Resource, Values)> {
    // A resource that the broker has not answered for.
    if row.is_null() {
        return None;
    }
    // SAFETY: not NULL, and the caller's promise; a value may be NULL and is checked by `name`.
    unsafe {
        let called = name(rd::rd_kafka_ConfigResource_name(row))?;
        let resource = match rd::rd_kafka_ConfigResource_type(row) {
            Type::RD_KAFKA_RESOURCE_TOPIC => Resource::Topic(called),
            Type::RD_KAFKA_RESOURCE_BROKER => Resource::Broker(called.raw().parse().ok()?),
            _ => return None,
        };
        let code = rd::rd_kafka_ConfigResource_error(row);
        if CallError::from_code(code).is_some() {
            let text = name(rd::rd_kafka_ConfigResource_error_string(row));
            return Some((resource, Err(CallError::new(code, text))));
        }
        let mut count = 0;
        let entries = rd::rd_kafka_ConfigResource_configs(row, &raw mut count);
        let value = |entry: &*const rd::rd_kafka_ConfigEntry_t| {
            let key = name(rd::rd_kafka_ConfigEntry_name(*entry))?;
            Some((key.raw().to_owned(), name(rd::rd_kafka_ConfigEntry_value(*entry))?))
        };
        Some((resource, Ok(slice(entries.cast_const(), count).iter().filter_map(value).collect())))
    }
}
