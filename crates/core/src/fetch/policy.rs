//! The best way to request a source's bytes.

/// The best way to request a source's bytes, depending on the cost and maximum size of a request. You rarely need to
/// build a policy yourself, because there is one for each common kind of source.
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
    /// The largest gap in bytes to read over, so that two wanted ranges share a request.
    pub max_gap_bytes: u64,
    /// The maximum request size in bytes. Larger wanted ranges are split.
    pub max_request_bytes: u64,
    /// The maximum number of requests in flight at the same time.
    pub max_requests_in_flight: usize,
    /// The maximum number of bytes requested before they are needed.
    pub max_bytes_ahead: u64,
    /// The cost of a round trip in bytes, that is, latency times bandwidth.
    ///
    /// Fetching this many possibly useless bytes takes as long as waiting for one more response.
    pub round_trip_bytes: u64,
    /// The number of bytes to fetch from the end of the file with the first request.
    pub suffix_bytes: u64,
    /// The size of the requests for a column chunk without a page index.
    pub chunk_reads: ChunkReads,
    /// True if the source's bytes are already in memory.
    ///
    /// Reads then return slices of that memory. The bytes are never copied and don't count towards the read's memory.
    pub in_memory: bool,
}

/// The size of the requests for a column chunk without a page index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkReads {
    /// A few pages at a time, so that they're still in the CPU cache when they're decoded.
    Windows,
    /// The whole chunk at once.
    Whole,
}

/// Returns the number of column chunk bytes to save for a request to be worth sending. This is 0 if chunks aren't
/// fetched whole, because pages are then left out even without a lookup.
#[must_use]
pub const fn request_cost(policy: &FetchPolicy) -> u64 {
    match policy.chunk_reads {
        ChunkReads::Whole => policy.max_gap_bytes,
        ChunkReads::Windows => 0,
    }
}

impl FetchPolicy {
    /// Returns the policy for a file on a local disk.
    ///
    /// A read system call costs only a few microseconds, so we read ranges as they are needed. Gaps are only read over
    /// if they have at most 4 KiB, that is, one page of the system's cache. We don't read ahead, because the system
    /// already does.
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

    /// Returns the policy for bytes in memory and for memory maps, which cost nothing to read.
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

    /// Returns the policy for an object store or a web server with a response time of about 50 ms.
    ///
    /// - One connection transfers about 80 MB/s, so a round trip is worth 4 MiB.
    /// - With 64 requests in flight, one column of 64 small row groups takes one round. Gaps of up to 256 KiB cost a
    ///   sixteenth of a round trip.
    /// - A request of 8 MiB spends two thirds of its time on transferring bytes. Larger requests would gain little, and
    ///   small reads would use fewer connections.
    /// - 64 MiB fill a connection of 10 Gbit/s for 50 ms. We request twice as much, so that one half can be decoded
    ///   while the other half is arriving.
    /// - The last 256 KiB contain the footer and the page indexes of most files, and all of a small file.
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

    /// Returns the policy for an engine that scans a table in an object store, that is, reads many columns of many
    /// files.
    ///
    /// - Gaps of up to 672 KiB are read over. For the TPC-H queries in DataFusion's tests, this takes 393 requests and
    ///   228 MB. With 736 KiB, it would take 344 requests but 265 MB, because requests would also cover unused columns
    ///   between row groups.
    /// - A round trip is worth 8 MiB, so that columns of up to a quarter of this size are requested together with the
    ///   first lookups of a row group.
    #[must_use]
    pub const fn remote_scan() -> Self {
        Self {
            max_gap_bytes: 672 << 10,
            round_trip_bytes: 8 << 20,
            ..Self::remote()
        }
    }

    /// Returns the policy for local files in a store whose requests run on other threads.
    ///
    /// - A request opens the file on another thread, which takes 0.1 ms. We could copy 256 KiB in that time, so reading
    ///   over a quarter as much costs less than one more request.
    /// - The system usually has most bytes in memory already, so four requests are enough to keep the threads busy.
    ///   More bytes in the process's memory mean more page faults: with 128 MiB ahead, reads take up to 1.5 times the
    ///   processor time.
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

    /// Returns the policy for a file with a shared cursor, where only one caller at a time can seek and read, such as a
    /// Python file object. Each of its requests might go to a server, so the other settings are the same as for
    /// [remote](Self::remote) sources.
    #[must_use]
    pub const fn one_at_a_time() -> Self {
        Self {
            max_requests_in_flight: 1,
            ..Self::remote()
        }
    }
}

herringbone_format::setters! { FetchPolicy {
    /// Sets the largest gap in bytes to read over, so that two wanted ranges share a request.
    max_gap_bytes: u64;
    /// Sets the maximum request size in bytes.
    max_request_bytes: u64;
    /// Sets the maximum number of requests in flight at the same time.
    max_requests_in_flight: usize;
    /// Limits the bytes requested before they are needed.
    max_bytes_ahead: u64;
    /// Sets the cost of a round trip in bytes.
    round_trip_bytes: u64;
    /// Sets the number of bytes to fetch from the end of the file with the first request.
    suffix_bytes: u64;
    /// Sets the size of the requests for a column chunk without a page index.
    chunk_reads: ChunkReads;
}}
