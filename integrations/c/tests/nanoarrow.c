// nanoarrow's C library makes and takes the arrays: with_nanoarrow FOLDER
#include <nanoarrow/nanoarrow.h>

#include "check.h"

#define DONE(call) CHECK((call) == NANOARROW_OK)

enum { ROWS = 1000 };

// Makes a stream of one batch: integers, of which each seventh is null, and texts.
static void make(struct ArrowArrayStream *stream) {
  struct ArrowSchema schema;
  ArrowSchemaInit(&schema);
  DONE(ArrowSchemaSetTypeStruct(&schema, 2));
  DONE(ArrowSchemaSetType(schema.children[0], NANOARROW_TYPE_INT64));
  DONE(ArrowSchemaSetName(schema.children[0], "id"));
  DONE(ArrowSchemaSetType(schema.children[1], NANOARROW_TYPE_STRING));
  DONE(ArrowSchemaSetName(schema.children[1], "name"));
  struct ArrowArray array;
  DONE(ArrowArrayInitFromSchema(&array, &schema, NULL));
  DONE(ArrowArrayStartAppending(&array));
  for (int64_t row = 0; row < ROWS; row++) {
    char text[32];
    snprintf(text, sizeof text, "name %d", (int)(row % 10));
    if (row % 7 == 0) {
      DONE(ArrowArrayAppendNull(array.children[0], 1));
    } else {
      DONE(ArrowArrayAppendInt(array.children[0], row));
    }
    DONE(ArrowArrayAppendString(array.children[1], ArrowCharView(text)));
    DONE(ArrowArrayFinishElement(&array));
  }
  DONE(ArrowArrayFinishBuildingDefault(&array, NULL));
  DONE(ArrowBasicArrayStreamInit(stream, &schema, 1));
  ArrowBasicArrayStreamSetArray(stream, 0, &array);
}

// Compares the rows of a stream with those of `make`, from row `first` on. Returns their number.
static int64_t compare(struct ArrowArrayStream *stream, int64_t first) {
  struct ArrowSchema schema;
  DONE(ArrowArrayStreamGetSchema(stream, &schema, NULL));
  struct ArrowArrayView view;
  DONE(ArrowArrayViewInitFromSchema(&view, &schema, NULL));
  int64_t row = first;
  for (;;) {
    struct ArrowArray array;
    DONE(ArrowArrayStreamGetNext(stream, &array, NULL));
    if (array.release == NULL) break;
    DONE(ArrowArrayViewSetArray(&view, &array, NULL));
    DONE(ArrowArrayViewValidate(&view, NANOARROW_VALIDATION_LEVEL_FULL, NULL));
    for (int64_t slot = 0; slot < array.length; slot++, row++) {
      char text[32];
      snprintf(text, sizeof text, "name %d", (int)(row % 10));
      CHECK(ArrowArrayViewIsNull(view.children[0], slot) == (row % 7 == 0));
      CHECK(row % 7 == 0 || ArrowArrayViewGetIntUnsafe(view.children[0], slot) == row);
      struct ArrowStringView found = ArrowArrayViewGetStringUnsafe(view.children[1], slot);
      CHECK((size_t)found.size_bytes == strlen(text) && memcmp(found.data, text, strlen(text)) == 0);
    }
    array.release(&array);
  }
  ArrowArrayViewReset(&view);
  schema.release(&schema);
  return row - first;
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/nanoarrow.parquet", arguments[1]);
  struct ArrowArrayStream stream;
  make(&stream);
  const char *options[] = {"page_rows", "100", "id:encoding", "plain", NULL};
  OK(hb_write(path, &stream, options, NULL, NULL, NULL));
  struct HbFile *file = NULL;
  OK(hb_open(path, NULL, &file));
  OK(hb_read(file, NULL, NULL, NULL, &stream));
  CHECK(compare(&stream, 0) == ROWS);
  stream.release(&stream);
  const char *last[] = {"where", "id >= 901", "batch_rows", "10", NULL};
  OK(hb_read(file, last, NULL, NULL, &stream));
  struct ArrowArray array;
  CHECK(stream.get_next(&stream, &array) == 0 && array.length == 10);
  array.release(&array);
  stream.release(&stream);
  const char *offset[] = {"offset", "500", NULL};
  OK(hb_read(file, offset, NULL, NULL, &stream));
  CHECK(compare(&stream, 500) == ROWS - 500);
  stream.release(&stream);
  hb_file_free(file);
  puts("nanoarrow has read what it wrote");
  return 0;
}
