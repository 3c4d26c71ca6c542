// Errors of files, requests and options.

/** An error with its kind and its place in the file. */
export class ParquetError extends Error {
  /**
   * @param {string} kind
   * @param {string} message
   * @param {object} [place] column, rowGroup, page and offset, as far as they are known
   * @param {ErrorOptions} [options]
   */
  constructor(kind, message, place = {}, options) {
    super(message, options);
    this.name = "ParquetError";
    this.kind = kind;
    this.column = place.column ?? null;
    this.rowGroup = place.rowGroup ?? null;
    this.page = place.page ?? null;
    this.offset = place.offset ?? null;
  }
}
