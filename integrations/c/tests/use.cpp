// The header in C++17: a file, its stream and its errors in owners of C++. use_cpp TESTDATA
#include <memory>
#include <stdexcept>
#include <string>

#include "herringbone.h"

namespace {

struct Free {
  void operator()(HbFile *file) const { hb_file_free(file); }
  void operator()(HbError *error) const { hb_error_free(error); }
  void operator()(char *text) const { hb_text_free(text); }
};

template <typename T>
using Owned = std::unique_ptr<T, Free>;

// An error of the library as an exception.
void check(HbError *error) {
  if (error != nullptr) {
    throw std::runtime_error(hb_error_text(Owned<HbError>(error).get()));
  }
}

class Stream {
 public:
  Stream(const HbFile &file, const char *const *options) {
    check(hb_read(&file, options, nullptr, nullptr, &stream_));
  }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  ~Stream() { stream_.release(&stream_); }

  // Returns the number of rows up to the end.
  int64_t rows() {
    int64_t rows = 0;
    for (ArrowArray array; next(array); array.release(&array)) rows += array.length;
    return rows;
  }

 private:
  bool next(ArrowArray &array) {
    if (stream_.get_next(&stream_, &array) != 0) check(hb_stream_error(&stream_));
    return array.release != nullptr;
  }

  ArrowArrayStream stream_{};
};

Owned<HbFile> open(const std::string &path) {
  HbFile *file = nullptr;
  check(hb_open(path.c_str(), nullptr, &file));
  return Owned<HbFile>(file);
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 2) return 2;
  const std::string testdata = arguments[1];
  const auto file = open(testdata + "/example.parquet");
  const char *options[] = {"limit", "2", nullptr};
  if (Stream(*file, options).rows() != 2) return 1;
  try {
    Stream(*open(testdata + "/hostile/checksum_wrong.parquet"), nullptr).rows();
    return 1;
  } catch (const std::runtime_error &error) {
    if (std::string(error.what()).find("checksum") == std::string::npos) return 1;
  }
  try {
    open("/nowhere");
    return 1;
  } catch (const std::runtime_error &) {
  }
  return 0;
}
