// What the test programs share.
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "herringbone.h"

// Ends the program unless a condition is true.
#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);     \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

// Ends the program if a call returned an error.
#define OK(call)                                                                    \
  do {                                                                              \
    struct HbError *error_ = (call);                                                \
    if (error_ != NULL) {                                                           \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hb_error_text(error_));    \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

// Ends the program unless a call returned an error of this kind with this text in it.
#define FAILS(call, kind, text)                                                     \
  do {                                                                              \
    struct HbError *error_ = (call);                                                \
    CHECK(error_ != NULL);                                                          \
    if (hb_error_kind(error_) != (kind) ||                                          \
        strstr(hb_error_text(error_), (text)) == NULL) {                            \
      fprintf(stderr, "%s:%d: kind %d: %s\n", __FILE__, __LINE__,                   \
              (int)hb_error_kind(error_), hb_error_text(error_));                   \
      exit(1);                                                                      \
    }                                                                               \
    hb_error_free(error_);                                                          \
  } while (0)

// Reads a stream to its end, and returns the number of rows, or -1 if it fails. The stream stays open.
static inline int64_t rows_of(struct ArrowArrayStream *stream) {
  int64_t rows = 0;
  for (;;) {
    struct ArrowArray array;
    if (stream->get_next(stream, &array) != 0) return -1;
    if (array.release == NULL) return rows;
    rows += array.length;
    array.release(&array);
  }
}

#endif
