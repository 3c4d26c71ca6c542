//! The best way to request the bytes of a source.

/// The best way to request the bytes of a source: the cost and the maximum size of a request.
///
/// ```
/// use herringbone::source::FetchPolicy;
///
/// // An object store in the same data center: a round trip takes 5 ms instead of 50 ms.
/// let policy = FetchPolicy::remote().round_trip_bytes(400 << 10).max_gap_bytes(25 << 10);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchPolicy {
    /// The largest gap between two wanted ranges that one request reads over, in bytes.
    pub max_gap_bytes: u64,
    /// The largest request, in bytes. A larger wanted range is split.
    pub max_request_bytes: u64,
    /// The number of requests that may be in flight at the same time.
    pub max_requests_in_flight: usize,
    /// The maximum number of bytes requested before they are needed.
    pub max_bytes_ahead: u64,
    /// The cost of a round trip, in bytes: latency times bandwidth.
    ///
    /// Fetching this many possibly useless bytes takes as long as waiting for one more response.
    pub round_trip_bytes: u64,
    /// The number of bytes at the end of the file that the first request fetches.
    pub suffix_bytes: u64,
    /// The size of the requests for a column chunk that has no page index.
    pub chunk_reads: ChunkReads,
    /// True if the bytes of the source are already in memory.
    ///
    /// Reads then return slices of that memory. They are never copied, and they do not count towards the memory of
    /// the read.
    pub in_memory: bool,
}

/// The size of the requests for a column chunk that has no page index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkReads {
    /// A few pages at a time. They stay in the CPU cache until they are decoded.
    Windows,
    /// The whole chunk at once.
    Whole,
}

/// Returns the number of bytes of a column chunk that a request must save to be worth sending. It is 0 if chunks are not
/// fetched whole: pages are then left out without a lookup, too.
#[must_use]
pub const fn request_cost(policy: &FetchPolicy) -> u64 {
    match policy.chunk_reads {
        ChunkReads::Whole => policy.max_gap_bytes,
        ChunkReads::Windows => 0,
    }
}

impl FetchPolicy {
    /// Returns the policy of a file on a local disk.
    ///
    /// A read system call costs a few microseconds, so ranges are read as they are needed. Only gaps of up to one
    /// page of the system's cache, 4 KiB, are read over. The system itself reads ahead.
    #[must_use]
    pub const fn local() -> Self {
        Self {
            max_gap_bytes: 4 << 10,
            max_request_bytes: 8 << 20,
            max_requests_in_flight: 1,
            max_bytes_ahead: 0,
            round_trip_bytes: 16 << 10,
            suffix_bytes: 64 << 10,
            chunk_reads: ChunkReads::Windows,
            in_memory: false,
        }
    }

    /// Returns the policy of bytes in memory and of memory maps: reading is free.
    #[must_use]
    pub const fn memory() -> Self {
        Self {
            max_gap_bytes: 0,
            max_request_bytes: u64::MAX,
            max_requests_in_flight: usize::MAX,
            max_bytes_ahead: u64::MAX,
            round_trip_bytes: 0,
            suffix_bytes: u64::MAX,
            chunk_reads: ChunkReads::Whole,
            in_memory: true,
        }
    }

    /// Returns the policy of an object store or a web server with a response time of about 50 ms.
    ///
    /// - One connection transfers about 80 MB/s, so a round trip is worth 4 MiB.
    /// - With 64 requests in flight, one column of 64 small row groups takes one round. Gaps of up to 256 KiB cost a
    ///   sixteenth of a round trip.
    /// - A request of 8 MiB spends two thirds of its time on transferring bytes. Larger requests would gain little,
    ///   and small reads would use fewer connections.
    /// - 64 MiB fill a connection of 10 Gbit/s for 50 ms. With twice as much, the first half is decoded while the other
    ///   half arrives.
    /// - The last 256 KiB contain the footer and the page indexes of most files, and the whole of small files.
    #[must_use]
    pub const fn remote() -> Self {
        Self {
            max_gap_bytes: 256 << 10,
            max_request_bytes: 8 << 20,
            max_requests_in_flight: 64,
            max_bytes_ahead: 128 << 20,
            round_trip_bytes: 4 << 20,
            suffix_bytes: 256 << 10,
            chunk_reads: ChunkReads::Whole,
            in_memory: false,
        }
    }

    /// Returns the policy with which an engine scans a table in an object store, when it reads many columns of many files.
    ///
    /// - Gaps of up to 672 KiB are read over: 393 requests and 228 MB for the queries of TPC-H in the tests of DataFusion. With
    ///   736 KiB, requests would cover unused columns between row groups, too: 344, and 265 MB.
    /// - A round trip is worth 8 MiB, so that columns of up to a quarter of this size are requested together with the first
    ///   lookups of a row group.
    #[must_use]
    pub const fn remote_scan() -> Self {
        Self {
            max_gap_bytes: 672 << 10,
            round_trip_bytes: 8 << 20,
            ..Self::remote()
        }
    }

    /// Returns the policy of local files in a store whose requests run on other threads.
    ///
    /// - A request opens the file on another thread, which takes 0.1 ms. In this time 256 KiB are copied, and reading over a
    ///   quarter of them costs less than one more request.
    /// - The system has most bytes in memory, so that four requests keep the threads busy. More bytes in memory of the process
    ///   take more page faults: with 128 MiB ahead, reads take up to 1.5 times the processor time.
    #[must_use]
    pub const fn local_async() -> Self {
        Self {
            max_gap_bytes: 64 << 10,
            round_trip_bytes: 256 << 10,
            max_requests_in_flight: 4,
            max_bytes_ahead: 16 << 20,
            chunk_reads: ChunkReads::Windows,
            ..Self::remote()
        }
    }

    /// Returns the policy of a file that one caller at a time can seek in and read, such as a file object of Python. Each of its
    /// requests may be one to a server.
    #[must_use]
    pub const fn one_at_a_time() -> Self {
        Self {
            max_requests_in_flight: 1,
            ..Self::remote()
        }
    }
}

herringbone_format::setters! { FetchPolicy {
    /// Sets the largest gap between two wanted ranges that one request reads over, in bytes.
    max_gap_bytes: u64;
    /// Sets the largest request, in bytes.
    max_request_bytes: u64;
    /// Sets the number of requests that may be in flight at the same time.
    max_requests_in_flight: usize;
    /// Limits the bytes requested before they are needed.
    max_bytes_ahead: u64;
    /// Sets the cost of a round trip, in bytes.
    round_trip_bytes: u64;
    /// Sets the number of bytes at the end of the file that the first request fetches.
    suffix_bytes: u64;
    /// Sets the size of the requests for a column chunk without a page index.
    chunk_reads: ChunkReads;
}}
