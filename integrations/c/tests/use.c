// Uses each function of the header: use TESTDATA FOLDER [URL [PREFIX]]. URL is TESTDATA at a server, and PREFIX a place in a store.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <sys/stat.h>

#include "check.h"

static char path_[4096];

static const char *in(const char *folder, const char *name) {
  snprintf(path_, sizeof path_, "%s/%s", folder, name);
  return path_;
}

static struct HbFile *open_file(const char *path) {
  struct HbFile *file = NULL;
  OK(hb_open(path, NULL, &file));
  return file;
}

// Returns the number of rows of a read.
static int64_t count(const struct HbFile *file, const char *const *options) {
  struct ArrowArrayStream stream;
  OK(hb_read(file, options, NULL, NULL, &stream));
  int64_t rows = rows_of(&stream);
  stream.release(&stream);
  return rows;
}

struct Memory {
  unsigned char *bytes;
  size_t length;
  int released;
  int reads;
};

static struct Memory whole(const char *path) {
  struct Memory memory = {NULL, 0, 0, 0};
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  CHECK(fseek(file, 0, SEEK_END) == 0);
  memory.length = (size_t)ftell(file);
  rewind(file);
  memory.bytes = malloc(memory.length);
  CHECK(fread(memory.bytes, 1, memory.length, file) == memory.length);
  fclose(file);
  return memory;
}

static void release_memory(void *data) { ((struct Memory *)data)->released += 1; }

static int32_t size_of_memory(void *data, uint64_t *size) {
  *size = ((struct Memory *)data)->length;
  return 0;
}

static int32_t read_memory(void *data, size_t count, const struct HbRange *ranges, uint8_t *const *buffers) {
  struct Memory *memory = data;
  memory->reads += 1;
  for (size_t i = 0; i < count; i++) {
    CHECK(ranges[i].start <= ranges[i].end && ranges[i].end <= memory->length);
    memcpy(buffers[i], memory->bytes + ranges[i].start, ranges[i].end - ranges[i].start);
  }
  return 0;
}

static int32_t no_size(void *data, uint64_t *size) {
  (void)data, (void)size;
  return ENOENT;
}

static int32_t append(void *data, const uint8_t *bytes, size_t length) {
  struct Memory *memory = data;
  memory->bytes = realloc(memory->bytes, memory->length + length);
  memcpy(memory->bytes + memory->length, bytes, length);
  memory->length += length;
  return 0;
}

static int32_t full_disk(void *data, const uint8_t *bytes, size_t length) {
  (void)data, (void)bytes, (void)length;
  return ENOSPC;
}

static int32_t notes_rows(void *data, uint64_t rows) {
  *(uint64_t *)data = rows;
  return 0;
}

static int32_t cancels(void *data, uint64_t rows) {
  (void)data, (void)rows;
  return 1;
}

static void versions(void) {
  CHECK(strchr(hb_version(), '.') != NULL);
  CHECK(hb_abi_version() == HB_ABI_VERSION);
}

static void reads(const char *example) {
  struct HbFile *file = open_file(example);
  int64_t all = count(file, NULL);
  CHECK(all > 2);
  const char *first[] = {"limit", "2", NULL};
  CHECK(count(file, first) == 2);
  const char *rest[] = {"offset", "2", "threads", "1", "memory_bytes", "64MiB", NULL};
  CHECK(count(file, rest) == all - 2);
  const char *group[] = {"row_group", "0", "batch_rows", "1", NULL};
  CHECK(count(file, group) <= all);
  const char *split[] = {"split", "0..4", NULL};
  CHECK(count(file, split) == 0);
  const char *splits[] = {"split", "0..5", "split", "5..1000000", NULL};
  CHECK(count(file, splits) == all);
  const char *range[] = {"row_range", "1..3", NULL};
  CHECK(count(file, range) == 2);

  const char *none[] = {"columns", "none", NULL};
  struct ArrowSchema schema;
  OK(hb_schema(file, none, &schema));
  CHECK(schema.n_children == 0);
  schema.release(&schema);
  OK(hb_schema(file, NULL, &schema));
  CHECK(schema.n_children > 1);
  // One column, and those rows in which it is not null and those in which it is are all.
  char condition[300];
  const char *column[] = {"column", schema.children[0]->name, "where", condition, NULL};
  snprintf(condition, sizeof condition, "%s is null", schema.children[0]->name);
  int64_t null_rows = count(file, column);
  snprintf(condition, sizeof condition, "%s is not null", schema.children[0]->name);
  CHECK(null_rows + count(file, column) == all);
  struct ArrowSchema one;
  OK(hb_schema(file, column, &one));
  CHECK(one.n_children == 1 && strcmp(one.children[0]->name, schema.children[0]->name) == 0);
  one.release(&one);

  char *json = NULL;
  OK(hb_metadata(file, &json));
  CHECK(strstr(json, "\"row_groups\":[{") != NULL && strstr(json, "\"compression\":") != NULL);
  hb_text_free(json);
  OK(hb_explain(file, column, &json));
  CHECK(strstr(json, "\"fetched_bytes\":") != NULL);
  hb_text_free(json);
  schema.release(&schema);

  // A stream outlives its file.
  struct ArrowArrayStream stream;
  uint64_t seen = 0;
  OK(hb_read(file, NULL, notes_rows, &seen, &stream));
  hb_file_free(file);
  CHECK(rows_of(&stream) == all && seen == (uint64_t)all);
  CHECK(hb_stream_error(&stream) == NULL);
  stream.release(&stream);
}

static void sources(const char *example) {
  struct HbFile *file = open_file(example);
  int64_t all = count(file, NULL);
  hb_file_free(file);

  struct Memory memory = whole(example);
  OK(hb_open_buffer(memory.bytes, memory.length, release_memory, &memory, NULL, &file));
  struct ArrowArrayStream stream;
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  hb_file_free(file);
  struct ArrowArray array;
  CHECK(stream.get_next(&stream, &array) == 0 && array.length > 0);
  stream.release(&stream);
  array.release(&array);
  CHECK(memory.released == 1);
  FAILS(hb_open_buffer(memory.bytes, 3, release_memory, &memory, NULL, &file), HB_ERROR_KIND_CORRUPT, "");
  CHECK(memory.released == 2);

  struct HbSource source = {&memory, size_of_memory, read_memory, release_memory};
  OK(hb_open_source(&source, NULL, &file));
  const char *one[] = {"threads", "1", NULL};
  CHECK(count(file, one) == all && memory.reads > 0);
  hb_file_free(file);
  CHECK(memory.released == 3);
  source.size = no_size;
  FAILS(hb_open_source(&source, NULL, &file), HB_ERROR_KIND_IO, "No such file");
  CHECK(memory.released == 4);
  free(memory.bytes);
}

static void errors(const char *testdata, const char *example) {
  struct HbFile *file = NULL;
  FAILS(hb_open("/nowhere/a.parquet", NULL, &file), HB_ERROR_KIND_IO, "No such file");
  FAILS(hb_open(NULL, NULL, &file), HB_ERROR_KIND_ARGUMENT, "the place is null");
  FAILS(hb_open(example, NULL, NULL), HB_ERROR_KIND_ARGUMENT, "null");
  FAILS(hb_open("\xff", NULL, &file), HB_ERROR_KIND_ARGUMENT, "UTF-8");
  const char *small[] = {"max.footer_bytes", "1", NULL};
  struct HbError *error = hb_open(example, small, &file);
  CHECK(error != NULL && hb_error_kind(error) == HB_ERROR_KIND_LIMIT);
  CHECK(strstr(hb_error_remedy(error), "\"max.footer_bytes\"") != NULL);
  CHECK(strstr(hb_error_text(error), hb_error_message(error)) != NULL);
  hb_error_free(error);

  file = open_file(example);
  struct ArrowArrayStream stream;
  const char *odd[] = {"limit", NULL};
  FAILS(hb_read(file, odd, NULL, NULL, &stream), HB_ERROR_KIND_ARGUMENT, "has no value");
  const char *other[] = {"colour", "red", NULL};
  FAILS(hb_read(file, other, NULL, NULL, &stream), HB_ERROR_KIND_ARGUMENT, "column_path");
  const char *text[] = {"limit", "many", NULL};
  FAILS(hb_read(file, text, NULL, NULL, &stream), HB_ERROR_KIND_ARGUMENT, "\"many\"");
  const char *where[] = {"where", "x >", NULL};
  FAILS(hb_read(file, where, NULL, NULL, &stream), HB_ERROR_KIND_ARGUMENT, "");
  FAILS(hb_read(file, NULL, NULL, NULL, NULL), HB_ERROR_KIND_ARGUMENT, "null");
  FAILS(hb_read(NULL, NULL, NULL, NULL, &stream), HB_ERROR_KIND_ARGUMENT, "null");

  // The callback ends the read.
  error = hb_read(file, NULL, cancels, NULL, &stream);
  if (error == NULL) {
    CHECK(rows_of(&stream) == -1);
    CHECK(strstr(stream.get_last_error(&stream), "callback ended") != NULL);
    error = hb_stream_error(&stream);
    stream.release(&stream);
  }
  CHECK(error != NULL && hb_error_kind(error) == HB_ERROR_KIND_CANCELLED);
  CHECK(hb_error_column(error) == NULL && hb_error_row_group(error) == -1);
  hb_error_free(error);
  hb_file_free(file);

  // The error of a damaged page has its place.
  file = open_file(in(testdata, "hostile/checksum_wrong.parquet"));
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  CHECK(rows_of(&stream) == -1);
  error = hb_stream_error(&stream);
  CHECK(error != NULL && hb_error_kind(error) == HB_ERROR_KIND_CORRUPT);
  CHECK(hb_error_row_group(error) == 0 && hb_error_page(error) >= 0 && hb_error_offset(error) > 0);
  CHECK(hb_error_column(error) != NULL);
  hb_error_free(error);
  stream.release(&stream);
  hb_file_free(file);
  hb_error_free(NULL);
  hb_file_free(NULL);
  hb_text_free(NULL);
}

// A stream of one array, whose child says that it has -3 slots.
static int32_t lying_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out);
static int32_t lying_next(struct ArrowArrayStream *stream, struct ArrowArray *out);

static void keep_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void keep_array(struct ArrowArray *array) { array->release = NULL; }
static void keep_stream(struct ArrowArrayStream *stream) { stream->release = NULL; }

static int32_t lying_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  (void)stream;
  static struct ArrowSchema child, *children[1] = {&child};
  child = (struct ArrowSchema){.format = "i", .name = "x", .release = keep_schema};
  *out = (struct ArrowSchema){
      .format = "+s", .name = "", .n_children = 1, .children = children, .release = keep_schema};
  return 0;
}

static int32_t lying_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  (void)stream;
  static const int32_t values[3];
  static const void *buffers[2] = {NULL, values}, *none[1] = {NULL};
  static struct ArrowArray child, *children[1] = {&child};
  child = (struct ArrowArray){.length = -3, .n_buffers = 2, .buffers = buffers, .release = keep_array};
  *out = (struct ArrowArray){.length = 3,
                             .n_buffers = 1,
                             .buffers = none,
                             .n_children = 1,
                             .children = children,
                             .release = keep_array};
  return 0;
}

static void writes(const char *example, const char *folder) {
  struct HbFile *file = open_file(example);
  int64_t all = count(file, NULL);
  char path[4096];
  strcpy(path, in(folder, "written.parquet"));

  struct ArrowArrayStream stream;
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  const char *options[] = {"compression", "zstd:3", "row_group_rows", "2", "page_rows", "1", "metadata:key", "value", NULL};
  uint64_t seen = 0;
  char *json = NULL;
  OK(hb_write(path, &stream, options, notes_rows, &seen, &json));
  CHECK(stream.release == NULL && seen == (uint64_t)all);
  CHECK(strstr(json, "\"compression\":\"ZSTD\"") != NULL);
  CHECK(strstr(json, "{\"key\":\"key\",\"value\":\"value\"}") != NULL);
  hb_text_free(json);
  struct HbFile *written = open_file(path);
  CHECK(count(written, NULL) == all);
  const char *second[] = {"row_group", "1", NULL};
  CHECK(count(written, second) == 2);
  struct ArrowSchema schema;
  OK(hb_schema(written, NULL, &schema));
  OK(hb_page_bounds(written, 0, schema.children[0]->name, &json));
  CHECK(json[0] == '[' && strstr(json, "\"null_count\":") != NULL);
  hb_text_free(json);
  schema.release(&schema);
  FAILS(hb_page_bounds(written, 0, "nowhere", &json), HB_ERROR_KIND_ARGUMENT, "nowhere");
  hb_file_free(written);

  struct Memory memory = {NULL, 0, 0, 0};
  struct HbSink sink = {&memory, append};
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  OK(hb_write_sink(&sink, &stream, NULL, NULL, NULL, NULL));
  CHECK(memory.length > 12 && memcmp(memory.bytes, "PAR1", 4) == 0);
  OK(hb_open_buffer(memory.bytes, memory.length, NULL, NULL, NULL, &written));
  CHECK(count(written, NULL) == all);
  hb_file_free(written);
  free(memory.bytes);
  sink.write = full_disk;
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  FAILS(hb_write_sink(&sink, &stream, NULL, NULL, NULL, NULL), HB_ERROR_KIND_IO, "No space");
  CHECK(stream.release == NULL);

  // A file appears when it is complete, and the stream is taken in any case.
  strcpy(path, in(folder, "never.parquet"));
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  FAILS(hb_write(path, &stream, NULL, cancels, NULL, NULL), HB_ERROR_KIND_CANCELLED, "callback ended");
  CHECK(stream.release == NULL);
  const char *unknown[] = {"compression", "zip", NULL};
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  FAILS(hb_write(path, &stream, unknown, NULL, NULL, NULL), HB_ERROR_KIND_ARGUMENT, "compression");
  CHECK(stream.release == NULL);
  FAILS(hb_write(path, &stream, NULL, NULL, NULL, NULL), HB_ERROR_KIND_ARGUMENT, "released");
  struct ArrowArrayStream lying = {lying_schema, lying_next, NULL, keep_stream, NULL};
  FAILS(hb_write(path, &lying, NULL, NULL, NULL, NULL), HB_ERROR_KIND_ARGUMENT, "column `x`: it has -3 slots");
  CHECK(lying.release == NULL);
  CHECK(fopen(path, "rb") == NULL);
  OK(hb_write_options(&json));
  CHECK(strstr(json, "\"name\":\"compression\"") != NULL);
  hb_text_free(json);
  hb_file_free(file);
}

// Returns the first value of a stream's first column, whose type is int64, and ends the stream.
static int64_t first_of(struct ArrowArrayStream *stream) {
  struct ArrowSchema schema;
  CHECK(stream->get_schema(stream, &schema) == 0);
  CHECK(strcmp(schema.children[0]->format, "l") == 0);
  schema.release(&schema);
  struct ArrowArray array;
  CHECK(stream->get_next(stream, &array) == 0 && array.length > 0);
  int64_t value = ((const int64_t *)array.children[0]->buffers[1])[array.children[0]->offset];
  array.release(&array);
  stream->release(stream);
  return value;
}

// The column `id` of the example is 0, 1, 2 and so on.
static void sorted_and_encrypted(const char *example, const char *folder) {
  struct HbFile *file = open_file(example);
  int64_t all = count(file, NULL);
  char path[4096];
  strcpy(path, in(folder, "encrypted.parquet"));
  struct ArrowArrayStream stream;
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  const char *keys =
      "{\"footer_key\": \"MDEyMzQ1Njc4OTAxMjM0NQ==\", \"column_keys\": {\"id\": \"MTIzNDU2Nzg5MDEyMzQ1MA==\"}}";
  const char *options[] = {"sort_by", "id:desc", "sort_memory_bytes", "64MiB", "keys", keys, NULL};
  OK(hb_write(path, &stream, options, NULL, NULL, NULL));
  hb_file_free(file);

  FAILS(hb_open(path, NULL, &file), HB_ERROR_KIND_KEY, "encrypted");
  const char *wrong[] = {"keys", "{\"footer_key\": \"c2hvcnQ=\"}", NULL};
  FAILS(hb_open(path, wrong, &file), HB_ERROR_KIND_ARGUMENT, "footer_key");
  const char *right[] = {"keys", keys, NULL};
  OK(hb_open(path, right, &file));
  CHECK(count(file, NULL) == all);
  const char *id[] = {"column", "id", NULL};
  OK(hb_read(file, id, NULL, NULL, &stream));
  CHECK(first_of(&stream) == all - 1);
  hb_file_free(file);

  const char *paths[] = {path, NULL};
  struct HbDataset *dataset = NULL;
  OK(hb_dataset_open(paths, right, &dataset));
  OK(hb_dataset_read(dataset, id, NULL, NULL, &stream));
  CHECK(first_of(&stream) == all - 1);
  hb_dataset_free(dataset);

  file = open_file(example);
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  const char *odd[] = {"sort_by", "id,", NULL};
  FAILS(hb_write(path, &stream, odd, NULL, NULL, NULL), HB_ERROR_KIND_ARGUMENT, "empty");
  hb_file_free(file);
}

static void datasets(const char *testdata, const char *folder) {
  struct HbFile *file = open_file(in(testdata, "example.parquet"));
  int64_t all = count(file, NULL);
  struct ArrowSchema schema;
  OK(hb_schema(file, NULL, &schema));
  char name[200];
  strncpy(name, schema.children[0]->name, sizeof name - 1);
  int64_t columns = schema.n_children;
  schema.release(&schema);

  struct ArrowArrayStream stream;
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  char root[4096];
  strcpy(root, in(folder, "dataset"));
  const char *options[] = {"partition_by", name, "compression", "snappy", NULL};
  char *json = NULL;
  OK(hb_dataset_write(root, &stream, options, NULL, NULL, &json));
  CHECK(strstr(json, "\"num_rows\":") != NULL);
  hb_text_free(json);
  hb_file_free(file);

  struct HbDataset *dataset = NULL;
  const char *paths[] = {root, NULL};
  OK(hb_dataset_open(paths, NULL, &dataset));
  OK(hb_dataset_schema(dataset, &schema));
  CHECK(schema.n_children == columns);
  schema.release(&schema);
  OK(hb_dataset_files(dataset, &json));
  CHECK(strstr(json, "\"partition\":{") != NULL && strstr(json, name) != NULL);
  hb_text_free(json);
  OK(hb_dataset_explain(dataset, NULL, &json));
  CHECK(strstr(json, "\"files\":") != NULL);
  hb_text_free(json);
  OK(hb_dataset_read(dataset, NULL, NULL, NULL, &stream));
  CHECK(rows_of(&stream) == all);
  stream.release(&stream);
  const char *part[] = {"part", "0", "path_column", "path", NULL};
  OK(hb_dataset_read(dataset, part, NULL, NULL, &stream));
  CHECK(rows_of(&stream) > 0);
  stream.release(&stream);
  OK(hb_dataset_read(dataset, NULL, cancels, NULL, &stream));
  CHECK(rows_of(&stream) == -1);
  stream.release(&stream);
  FAILS(hb_dataset_read(dataset, options, NULL, NULL, &stream), HB_ERROR_KIND_ARGUMENT, "partition_by");
  hb_dataset_free(dataset);
  hb_dataset_free(NULL);

  // Directories without names: the example is below 2026/11.
  char directory[4200], file_path[4300];
  snprintf(directory, sizeof directory, "%s/plain", folder);
  CHECK(mkdir(directory, 0755) == 0);
  strcat(directory, "/2026");
  CHECK(mkdir(directory, 0755) == 0);
  strcat(directory, "/11");
  CHECK(mkdir(directory, 0755) == 0);
  snprintf(file_path, sizeof file_path, "%s/a.parquet", directory);
  file = open_file(in(testdata, "example.parquet"));
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  OK(hb_write(file_path, &stream, NULL, NULL, NULL, NULL));
  hb_file_free(file);
  const char *plain[] = {in(folder, "plain"), NULL};
  const char *by_place[] = {"partitioning", "directories:year,month", NULL};
  OK(hb_dataset_open(plain, by_place, &dataset));
  const char *november[] = {"where", "year = 2026 and month = 11", NULL};
  OK(hb_dataset_read(dataset, november, NULL, NULL, &stream));
  CHECK(rows_of(&stream) == all);
  stream.release(&stream);
  hb_dataset_free(dataset);
  const char *unknown[] = {"partitioning", "sideways", NULL};
  FAILS(hb_dataset_open(plain, unknown, &dataset), HB_ERROR_KIND_ARGUMENT, "directories:");
}

// Writes a dataset below a prefix of a store, and reads it.
static void store(const char *prefix, const char *example) {
  struct HbFile *file = open_file(example);
  int64_t all = count(file, NULL);
  struct ArrowArrayStream stream;
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  hb_file_free(file);
  const char *options[] = {"partition_by", "id", "max_open_files", "4", NULL};
  char *json = NULL;
  OK(hb_dataset_write(prefix, &stream, options, NULL, NULL, &json));
  hb_text_free(json);

  struct HbDataset *dataset = NULL;
  const char *prefixes[] = {prefix, NULL};
  OK(hb_dataset_open(prefixes, NULL, &dataset));
  OK(hb_dataset_files(dataset, &json));
  CHECK(strstr(json, prefix) != NULL && strstr(json, "\"partition\":{\"id\":\"7\"}") != NULL);
  hb_text_free(json);
  OK(hb_dataset_read(dataset, NULL, NULL, NULL, &stream));
  CHECK(rows_of(&stream) == all);
  stream.release(&stream);
  const char *one[] = {"where", "id = 7", NULL};
  OK(hb_dataset_read(dataset, one, NULL, NULL, &stream));
  CHECK(rows_of(&stream) == 1);
  stream.release(&stream);
  hb_dataset_free(dataset);
}

static void urls(const char *url, const char *example) {
  // Files on a web server, which has no listings.
  char web[4096];
  strcpy(web, in(url, "example.parquet"));
  const char *two[] = {web, web, NULL}, *mixed[] = {web, example, NULL};
  struct HbDataset *dataset = NULL;
  OK(hb_dataset_open(two, NULL, &dataset));
  struct ArrowArrayStream stream;
  OK(hb_dataset_read(dataset, NULL, NULL, NULL, &stream));
  int64_t twice = rows_of(&stream);
  stream.release(&stream);
  hb_dataset_free(dataset);
  FAILS(hb_dataset_open(mixed, NULL, &dataset), HB_ERROR_KIND_ARGUMENT, "all paths or all URLs");

  struct HbFile *file = open_file(example);
  int64_t all = count(file, NULL);
  CHECK(twice == 2 * all);
  hb_file_free(file);
  file = open_file(in(url, "example.parquet"));
  CHECK(count(file, NULL) == all);
  hb_file_free(file);
  FAILS(hb_open(in(url, "nowhere.parquet"), NULL, &file), HB_ERROR_KIND_IO, "nowhere.parquet");
}

int main(int number, char **arguments) {
  CHECK(number >= 3 && number <= 5);
  char example[4096];
  strcpy(example, in(arguments[1], "example.parquet"));
  versions();
  reads(example);
  sources(example);
  errors(arguments[1], example);
  writes(example, arguments[2]);
  sorted_and_encrypted(example, arguments[2]);
  datasets(arguments[1], arguments[2]);
  if (number >= 4) urls(arguments[3], example);
  if (number == 5) store(arguments[4], example);
  puts("each function of the header was used");
  return 0;
}
