//! Topics and the cluster: plain Metadata (leaders, replicas; needs no controller), DescribeTopics (ids, and whether a
//! topic is gone or only hidden), DescribeCluster (racks).
#![allow(unsafe_code)]

use std::collections::BTreeMap;

use rdkafka::bindings as rd;
use rdkafka::bindings::rd_kafka_admin_op_t as Op;
use rdkafka::consumer::Consumer;
use uuid::Uuid;

use super::admin::{Admin, slice};
use super::error::{self, CallError, name};
use super::groups::c_string;
use crate::model::{Broker, Cluster, Name, Partition, Presence, Topic};

/// Answer of plain Metadata: all topics that our principal may describe.
#[derive(Debug, Default)]
pub struct Metadata {
    pub topics: BTreeMap<Name, Vec<Partition>>,
    /// Broker ids that are up, with host and port.
    pub brokers: BTreeMap<i32, (Name, u16)>,
}

/// What DescribeTopics adds to plain Metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicAnswer {
    Described(Box<Topic>),
    Gone,
    Denied,
    Failed(CallError),
}

impl Admin {
    /// Plain Metadata of all topics. Runs on a blocking thread.
    pub async fn metadata(&self) -> Result<Metadata, CallError> {
        let (consumer, timeout) = (self.consumer(), self.timeout());
        let call = move || consumer.client().fetch_metadata(None, timeout);
        let answer = tokio::task::spawn_blocking(call).await.map_err(|_| CallError::Timeout)?;
        let answer = answer.map_err(|error| match error {
            rdkafka::error::KafkaError::MetadataFetch(rdkafka::types::RDKafkaErrorCode::OperationTimedOut) => {
                CallError::Timeout
            }
            rdkafka::error::KafkaError::MetadataFetch(code) => {
                CallError::Code { code: code as i32, text: Name::from(code.to_string()) }
            }
            other => CallError::Code { code: -1, text: Name::from(other.to_string()) },
        })?;
        let mut metadata = Metadata::default();
        for broker in answer.brokers() {
            let port = u16::try_from(broker.port()).unwrap_or(0);
            metadata.brokers.insert(broker.id(), (Name::new(broker.host()), port));
        }
        for topic in answer.topics().iter().filter(|topic| topic.error().is_none()) {
            let mut partitions = vec![Partition::default(); topic.partitions().len()];
            for raw in topic.partitions() {
                if let Some(partition) = usize::try_from(raw.id()).ok().and_then(|id| partitions.get_mut(id)) {
                    partition.leader = Some(raw.leader()).filter(|leader| *leader >= 0);
                    partition.replicas = raw.replicas().to_vec();
                    partition.isr = raw.isr().to_vec();
                }
            }
            metadata.topics.insert(Name::new(topic.name()), partitions);
        }
        Ok(metadata)
    }

    /// DescribeTopics of some topics; an answer for each.
    pub async fn describe_topics(&self, topics: &[Name]) -> Result<BTreeMap<Name, TopicAnswer>, CallError> {
        let names: Vec<_> = topics.iter().map(c_string).collect();
        self.call(
            Op::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS,
            |rk, options, queue| {
                let mut pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
                // SAFETY: valid C strings, copied into the collection, which the call copies and we free.
                unsafe {
                    let collection = rd::rd_kafka_TopicCollection_of_topic_names(pointers.as_mut_ptr(), pointers.len());
                    rd::rd_kafka_DescribeTopics(rk, collection, options.raw(), queue);
                    rd::rd_kafka_TopicCollection_destroy(collection);
                }
            },
            |event| {
                // SAFETY: the event is of this call, so the cast holds; what is read belongs to the event.
                unsafe {
                    let result = rd::rd_kafka_event_DescribeTopics_result(event.raw());
                    let mut count = 0;
                    let rows = rd::rd_kafka_DescribeTopics_result_topics(result, &raw mut count);
                    Ok(slice(rows.cast_const(), count).iter().filter_map(|row| topic(*row)).collect())
                }
            },
        )
        .await
    }

    /// DescribeCluster: brokers with racks, controller, cluster id. Waits for a controller, unlike plain Metadata.
    pub async fn describe_cluster(&self) -> Result<Cluster, CallError> {
        self.call(
            Op::RD_KAFKA_ADMIN_OP_DESCRIBECLUSTER,
            // SAFETY: handle, options and queue are alive for the call.
            |rk, options, queue| unsafe { rd::rd_kafka_DescribeCluster(rk, options.raw(), queue) },
            |event| {
                // SAFETY: the event is of this call, so the cast holds; what is read belongs to the event.
                unsafe {
                    let result = rd::rd_kafka_event_DescribeCluster_result(event.raw());
                    let mut count = 0;
                    let nodes = rd::rd_kafka_DescribeCluster_result_nodes(result, &raw mut count);
                    let brokers = slice(nodes.cast_const(), count).iter().map(|node| {
                        let broker = Broker {
                            host: name(rd::rd_kafka_Node_host(*node)).unwrap_or_default(),
                            port: rd::rd_kafka_Node_port(*node),
                            rack: name(rd::rd_kafka_Node_rack(*node)),
                            rack_pending: false,
                        };
                        (rd::rd_kafka_Node_id(*node), broker)
                    });
                    let brokers = brokers.collect();
                    let controller = rd::rd_kafka_DescribeCluster_result_controller(result);
                    Ok(Cluster {
                        id: name(rd::rd_kafka_DescribeCluster_result_cluster_id(result)),
                        controller: node_id(controller),
                        brokers,
                        ..Cluster::default()
                    })
                }
            },
        )
        .await
    }
}

/// # Safety
/// `node` must be NULL or belong to a living event.
unsafe fn node_id(node: *const rd::rd_kafka_Node_t) -> Option<i32> {
    // SAFETY: checked for NULL; the caller's promise.
    (!node.is_null()).then(|| unsafe { rd::rd_kafka_Node_id(node) }).filter(|id| *id >= 0)
}

/// # Safety
/// `row` must belong to a living DescribeTopics event.
unsafe fn topic(row: *const rd::rd_kafka_TopicDescription_t) -> Option<(Name, TopicAnswer)> {
    // SAFETY: the caller's promise; the topic id may be NULL and is checked.
    unsafe {
        let topic_name = name(rd::rd_kafka_TopicDescription_name(row))?;
        if let Some(failed) = error::of(rd::rd_kafka_TopicDescription_error(row)) {
            let answer = match failed.code() {
                // UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, _UNKNOWN_TOPIC
                Some(3 | 100 | -188) => TopicAnswer::Gone,
                // TOPIC_AUTHORIZATION_FAILED
                Some(29) => TopicAnswer::Denied,
                _ => TopicAnswer::Failed(failed),
            };
            return Some((topic_name, answer));
        }
        let id = rd::rd_kafka_TopicDescription_topic_id(row);
        let id = (!id.is_null()).then(|| {
            let most = rd::rd_kafka_Uuid_most_significant_bits(id) as u64;
            Uuid::from_u64_pair(most, rd::rd_kafka_Uuid_least_significant_bits(id) as u64)
        });
        let mut count = 0;
        let rows = rd::rd_kafka_TopicDescription_partitions(row, &raw mut count);
        let mut partitions = vec![Partition::default(); count];
        for info in slice(rows.cast_const(), count) {
            let number = usize::try_from(rd::rd_kafka_TopicPartitionInfo_partition(*info)).unwrap_or(usize::MAX);
            if let Some(partition) = partitions.get_mut(number) {
                *partition = partition_of(*info);
            }
        }
        let topic = Topic { presence: Presence::Present, id, partitions, ..Topic::default() };
        Some((topic_name, TopicAnswer::Described(Box::new(topic))))
    }
}

/// # Safety
/// `info` must belong to a living DescribeTopics event.
unsafe fn partition_of(info: *const rd::rd_kafka_TopicPartitionInfo_t) -> Partition {
    // SAFETY: the caller's promise; arrays belong to the event, the leader may be NULL and is checked.
    unsafe {
        let mut count = 0;
        let replicas = rd::rd_kafka_TopicPartitionInfo_replicas(info, &raw mut count);
        let replicas = slice(replicas.cast_const(), count).iter().map(|node| rd::rd_kafka_Node_id(*node)).collect();
        let isr = rd::rd_kafka_TopicPartitionInfo_isr(info, &raw mut count);
        let isr = slice(isr.cast_const(), count).iter().map(|node| rd::rd_kafka_Node_id(*node)).collect();
        Partition { leader: node_id(rd::rd_kafka_TopicPartitionInfo_leader(info)), replicas, isr }
    }
}
