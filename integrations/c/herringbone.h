// Apache Parquet for C11 and C++17, on Arrow's C data interface. Made by cbindgen: do not edit.
//
// Errors. A function that may fail returns an error, which the caller frees by hb_error_free, or NULL. Results are stored
// before it returns NULL, and otherwise not touched. No panic of the library leaves it.
//
// Owners. The caller owns what a function stores at a pointer of an argument, and frees it: files, datasets and errors by
// their functions, texts by hb_text_free, schemas, arrays and streams of Arrow by their own release. Arguments stay the
// caller's, and are not used after the function returns, except for buffers, sources and callbacks, whose functions say how
// long, and streams that are written, which the library takes and releases. Schemas, arrays and streams that the library
// returned stay valid after their file is freed.
//
// Threads. Any thread may call any function. Several may use a file or a dataset at the same time. A stream is used by one
// thread at a time, which may be another for each call. A progress callback is only called by the thread that is in a
// function of the library or of its stream. Callbacks of HbSource, and those that release, are called on any thread. A
// process that was forked uses only what it opens itself.
//
// Options are texts in UTF-8, keys and values in turn, and NULL at the end. NULL in place of the list means no options.
//
// The ABI. As long as HB_ABI_VERSION is the same, a program that was compiled with an older header runs with a newer library:
// functions, structs and meanings stay, and opaque structs are only used through pointers. Versions below 1.0 may raise
// HB_ABI_VERSION in any release. The name of the shared library on Linux has the number: libherringbone.so.1.
//
// URLs are opened with the network and the credentials of the process. HERRINGBONE_NO_URLS=1 in the environment forbids them.


#pragma once

#include <stddef.h>
#include <stdint.h>
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE


// The number of the ABI. It grows if a function, a struct or a meaning changes so that a program must be compiled again. New
// functions and new options do not change it.
#define HB_ABI_VERSION 1

// The kinds of errors. Later versions may have more.
enum HbErrorKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The system, a server or a callback failed.
  HB_ERROR_KIND_IO = 1,
  // A file contradicts the format or itself.
  HB_ERROR_KIND_CORRUPT = 2,
  // A file or data has something that the library does not know.
  HB_ERROR_KIND_UNSUPPORTED = 3,
  // Something is larger than a limit. The remedy names the option with the limit.
  HB_ERROR_KIND_LIMIT = 4,
  // The library was built without a feature.
  HB_ERROR_KIND_FEATURE = 5,
  // An argument or an option is wrong, or a struct of Arrow is invalid.
  HB_ERROR_KIND_ARGUMENT = 6,
  // A key is missing or wrong.
  HB_ERROR_KIND_KEY = 7,
  // A file was replaced while it was read.
  HB_ERROR_KIND_REPLACED = 8,
  // A progress callback ended the call.
  HB_ERROR_KIND_CANCELLED = 9,
  // A mistake of the library.
  HB_ERROR_KIND_BUG = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum HbErrorKind HbErrorKind;
#else
typedef int32_t HbErrorKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// An open dataset. It belongs to the caller, who frees it by `hb_dataset_free`. Any number of threads may use it at the same time.
struct HbDataset;

// An error. It belongs to the caller, who frees it by `hb_error_free`. It may be used from any thread.
struct HbError;

// An open file. It belongs to the caller, who frees it by `hb_file_free`. Any number of threads may use it at the same time.
struct HbFile;

// Sees the number of rows that were read or written so far. A result other than 0 ends the call with `HB_ERROR_KIND_CANCELLED`.
// It is only called by the thread that is in a function of the library or of its stream, many times a second, and
// must not call the library with the same objects. Null means no callback.
typedef int32_t (*HbProgress)(void *data, uint64_t rows);

// Frees a buffer that `hb_open_buffer` was given, on any thread. Null means that it stays.
typedef void (*HbRelease)(void *data);

// A range of bytes of a file: from `start`, and before `end`.
struct HbRange {
  // The first byte.
  uint64_t start;
  // The byte after the last.
  uint64_t end;
};

// A file whose bytes callbacks read. The library copies the struct.
struct HbSource {
  // The first argument of the callbacks.
  void *data;
  // Stores the number of bytes of the file, and returns 0, or a number of the system, such as `ENOENT`.
  int32_t (*size)(void *data, uint64_t *size);
  // Fills the buffer of each range, which has `end - start` bytes, and returns 0, or a number of the system. Reads on
  // several threads call it at the same time, unless the option "threads" is "1".
  int32_t (*read_ranges)(void *data, size_t count, const struct HbRange *ranges, uint8_t *const *buffers);
  // Frees `data`, or null. The library calls it once, after the last read, on any thread.
  void (*release)(void *data);
};

// A callback that takes the bytes of a new file, in order.
struct HbSink {
  // The first argument of the callback.
  void *data;
  // Takes all bytes, and returns 0, or a number of the system. Only the thread in the function that writes calls it.
  int32_t (*write)(void *data, const uint8_t *bytes, size_t length);
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library, such as "0.1.0". The text lives as long as the library is loaded.
const char *hb_version(void);

// Returns the `HB_ABI_VERSION` that the library was compiled with. A program that loads the library at run time compares it
// with that of its header.
uint32_t hb_abi_version(void);

// Opens the files of directories, files and patterns as one table. The places are either all paths or all URLs. Options:
//
// - `partitioning`: `hive`, which is the default, `none`, or `directories:NAME,NAME` for values without names, such as `2026/11`
// - `schema`: `first_file`, which is the default, or `union`
// - `unreadable_keys`: `skip` leaves objects out whose keys cannot be read, and `fail` is the default
// - limits `max.NAME`, and `keys` JSON as for `hb_open`
//
// # Safety
// `paths` are texts in UTF-8, and NULL at the end. The rest is as for `hb_open`.
struct HbError *hb_dataset_open(const char *const *paths,
                                const char *const *options,
                                struct HbDataset **dataset);

// Frees a dataset. Streams that were opened from it stay valid. Null is allowed.
//
// # Safety
// `dataset` is null, or a dataset that is not freed, and that no thread uses.
void hb_dataset_free(struct HbDataset *dataset);

// Returns the Arrow schema of all columns. The caller releases it.
//
// # Safety
// `dataset` is open, and `schema` is a place for a schema.
struct HbError *hb_dataset_schema(const struct HbDataset *dataset, struct ArrowSchema *schema);

// Returns the files as a JSON array: path or URL, bytes and partition columns. The caller frees the text by `hb_text_free`.
//
// # Safety
// `dataset` is open, and `json` is a place for a pointer.
struct HbError *hb_dataset_files(const struct HbDataset *dataset,
                                 char **json);

// Starts a read. Its options are those of `hb_read` without `row_group`, `row_range`, `split` and `on_error`. In addition, `part`*
// `FILE` or `FILE:START..END` chooses a file by its place in `hb_dataset_files`, or its row groups that begin in a range of
// its bytes; `path_column` NAME adds a column with the paths; and `max_open_files` is a number.
//
// # Safety
// As for `hb_read`.
struct HbError *hb_dataset_read(const struct HbDataset *dataset,
                                const char *const *options,
                                HbProgress progress,
                                void *data,
                                struct ArrowArrayStream *stream);

// Returns the rows that a read with these options rules out, and the bytes that it would fetch, as a JSON object with sums over all files. The caller
// frees the text by `hb_text_free`.
//
// # Safety
// `dataset` is open, `options` are those of `hb_dataset_read`, and `json` is a place for a pointer.
struct HbError *hb_dataset_explain(const struct HbDataset *dataset,
                                   const char *const *options,
                                   char **json);

// Writes a stream to new files below a directory, or below a prefix of a store. In addition to the options of `hb_write`, `partition_by`* NAME makes directories
// `NAME=VALUE`, `file_rows` and `file_bytes` bound a file, `file_names` is a pattern with `{}` for the file's number, and
// `max_open_files` is a number. If `files` is not null, it gets the files as a JSON array, which the caller frees by
// `hb_text_free`. The library takes the stream, as `hb_write` does.
//
// # Safety
// As for `hb_write`.
struct HbError *hb_dataset_write(const char *directory,
                                 struct ArrowArrayStream *stream,
                                 const char *const *options,
                                 HbProgress progress,
                                 void *data,
                                 char **files);

// Returns the kind of an error.
//
// # Safety
// `error` is an error of this library that is not freed.
HbErrorKind hb_error_kind(const struct HbError *error);

// Returns the whole error on one line: message, remedy and place. The text belongs to the error.
//
// # Safety
// `error` is an error of this library that is not freed.
const char *hb_error_text(const struct HbError *error);

// Returns the problem alone. The text belongs to the error.
//
// # Safety
// `error` is an error of this library that is not freed.
const char *hb_error_message(const struct HbError *error);

// Returns the option that helps, or null. The text belongs to the error.
//
// # Safety
// `error` is an error of this library that is not freed.
const char *hb_error_remedy(const struct HbError *error);

// Returns the path of the column with the problem, or null. The text belongs to the error.
//
// # Safety
// `error` is an error of this library that is not freed.
const char *hb_error_column(const struct HbError *error);

// Returns the row group with the problem, or -1.
//
// # Safety
// `error` is an error of this library that is not freed.
int64_t hb_error_row_group(const struct HbError *error);

// Returns the page of the column chunk with the problem, or -1.
//
// # Safety
// `error` is an error of this library that is not freed.
int64_t hb_error_page(const struct HbError *error);

// Returns the offset in the file of the problem, or -1.
//
// # Safety
// `error` is an error of this library that is not freed.
int64_t hb_error_offset(const struct HbError *error);

// Frees an error. Null is allowed.
//
// # Safety
// `error` is null, or an error of this library that is not freed.
void hb_error_free(struct HbError *error);

// Returns a copy of the last error of a stream of this library, or null if there is none or the stream is of another library.
// The caller frees it by `hb_error_free`.
//
// # Safety
// `stream` is an initialized stream.
struct HbError *hb_stream_error(struct ArrowArrayStream *stream);

// Opens the file at a path or URL. Options: limits, such as `max.memory_bytes`, and `keys` JSON for an encrypted file, with the
// members of the command's keys file.
//
// # Safety
// `place` is a text in UTF-8. `options` are keys and values in turn, and NULL at the end, or null. `file` is a place for a pointer.
struct HbError *hb_open(const char *place,
                        const char *const *options,
                        struct HbFile **file);

// Opens a file in memory, without a copy. The buffer must stay unchanged until the library calls `release` with `data`, which
// it does once, on any thread, when the file and all arrays that were read from it are freed, or after an error.
//
// # Safety
// `bytes` has `length` bytes. The rest is as for `hb_open`.
struct HbError *hb_open_buffer(const uint8_t *bytes,
                               size_t length,
                               HbRelease release,
                               void *data,
                               const char *const *options,
                               struct HbFile **file);

// Opens a file whose bytes callbacks read. The library calls `release` also after an error.
//
// # Safety
// The callbacks do what `HbSource` describes, on any thread. The rest is as for `hb_open`.
struct HbError *hb_open_source(const struct HbSource *source,
                               const char *const *options,
                               struct HbFile **file);

// Frees a file. Streams that were opened from it stay valid. Null is allowed.
//
// # Safety
// `file` is null, or a file that is not freed, and that no thread uses.
void hb_file_free(struct HbFile *file);

// Returns the Arrow schema that `hb_read` with these options has. The caller releases it.
//
// # Safety
// As for `hb_read`.
struct HbError *hb_schema(const struct HbFile *file, const char *const *options, struct ArrowSchema *schema);

// Starts a read. Errors of the stream have a text, and `hb_stream_error` has their parts. The caller releases the stream, which
// one thread at a time may use. Options, of which those with * may be repeated:
//
// - `column`* NAME, `column_path`* `a.b`, `columns` `none`: the columns, in the order of the file; all without these
// - `where`* CONDITION: rows for which a condition in SQL is true, such as `a > 5 and b like 'x%'`
// - `offset`, `limit`: numbers of rows
// - `row_group`* NUMBER, `row_range`* `START..END`
// - `split`* `START..END`: row groups that begin in a range of the file's bytes
// - `threads`: 0, which is the default, is one per core
// - `batch_rows`, `batch_bytes`: the largest size of a batch
// - `memory_bytes` and other limits `max.NAME`, which a size such as `64MiB` may be
// - `verify_crc` `off`; `on_error` `null_page` or `skip_row_group`
//
// # Safety
// `file` is open. `options` are as for `hb_open`. `progress` may be called with `data` while a function of the stream runs.
// `stream` is a place for a stream.
struct HbError *hb_read(const struct HbFile *file,
                        const char *const *options,
                        HbProgress progress,
                        void *data,
                        struct ArrowArrayStream *stream);

// Returns the metadata of the file as JSON. The caller frees the text by `hb_text_free`.
//
// # Safety
// `file` is open, and `json` is a place for a pointer.
struct HbError *hb_metadata(const struct HbFile *file, char **json);

// Returns the bounds and counts of the pages of a column chunk as a JSON array with an object for each page, or `null` if there is
// no page index. The caller frees the text by `hb_text_free`.
//
// # Safety
// `file` is open, `column` is a path such as `a.b`, and `json` is a place for a pointer.
struct HbError *hb_page_bounds(const struct HbFile *file,
                               size_t row_group,
                               const char *column,
                               char **json);

// Returns the rows that a read with these options rules out, and the bytes that it would fetch, as a JSON array with an object for each row
// group. The caller frees the text by `hb_text_free`.
//
// # Safety
// `file` is open, `options` are those of `hb_read`, and `json` is a place for a pointer.
struct HbError *hb_explain(const struct HbFile *file,
                           const char *const *options,
                           char **json);

// Frees a text that a function returned by a `char **`. Null is allowed.
//
// # Safety
// `text` is null, or a text of this library that is not freed and was not changed.
void hb_text_free(char *text);

// Writes a stream to a path or URL. The file appears when it is complete, and replaces an existing one. The options are those
// that `hb_write_options` lists. `PATH:NAME` sets an option of columns for one column, as `a.b:compression`, and `metadata:KEY`
// adds a pair to the metadata. `sort_by`* `COLUMN,COLUMN:desc:nulls-first` sorts the rows, with at most `sort_memory_bytes` of
// them in memory, and the others in temporary files in `sort_folder`. `keys` JSON encrypts the file, with the members of the
// command's keys file. If `metadata` is not null, it gets the metadata of the file as JSON, which the caller frees by
// `hb_text_free`.
//
// The library takes the stream, and releases it, also after an error. Its structs are checked: a stream whose numbers contradict
// each other is an error. Its pointers and the sizes of its buffers are believed.
//
// # Safety
// `place` is a text in UTF-8. `stream` is an initialized stream that its owner does not use afterwards. `options` are as for
// `hb_open`. `progress` may be called with `data` until this returns. `metadata` is null or a place for a pointer.
struct HbError *hb_write(const char *place,
                         struct ArrowArrayStream *stream,
                         const char *const *options,
                         HbProgress progress,
                         void *data,
                         char **metadata);

// Writes a stream to a callback. All else is as for `hb_write`. After an error, the bytes so far are no file.
//
// # Safety
// The callback does what `HbSink` describes. The rest is as for `hb_write`.
struct HbError *hb_write_sink(const struct HbSink *sink,
                              struct ArrowArrayStream *stream,
                              const char *const *options,
                              HbProgress progress,
                              void *data,
                              char **metadata);

// Returns the options of `hb_write` as a JSON array: name, kind, choices, default, purpose, and whether columns may have values of
// their own. The caller frees the text by `hb_text_free`.
//
// # Safety
// `json` is a place for a pointer.
struct HbError *hb_write_options(char **json);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
