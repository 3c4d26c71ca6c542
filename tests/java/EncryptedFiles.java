import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.crypto.ColumnDecryptionProperties;
import org.apache.parquet.crypto.ColumnEncryptionProperties;
import org.apache.parquet.crypto.EncryptionPropertiesFactory;
import org.apache.parquet.crypto.FileDecryptionProperties;
import org.apache.parquet.crypto.FileEncryptionProperties;
import org.apache.parquet.crypto.ParquetCipher;
import org.apache.parquet.crypto.keytools.KeyToolkit;
import org.apache.parquet.crypto.keytools.KmsClient;
import org.apache.parquet.crypto.keytools.LocalWrapKmsClient;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.WriteSupport;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.hadoop.metadata.ColumnPath;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/**
 * Writes, reads and rotates encrypted files with the key tools of parquet-java, or with keys as they are. Arguments come in
 * lines, so that one virtual machine serves all of them; each is answered by a line.
 *
 *   write FILE property=value ...     read FILE property=value ...     rotate FOLDER
 *
 * Properties are those of the key tools, and those of this program:
 *
 *   page 1|2   codec UNCOMPRESSED|SNAPPY|ZSTD   kms.client.class EncryptedFiles$Local
 *   raw.footer KEY   raw.column.PATH KEY   raw.rest true   raw.prefix TEXT   raw.store false        keys are base64
 */
public class EncryptedFiles {
  static final int ROWS = 3000;
  static final MessageType SCHEMA = MessageTypeParser.parseMessageType(
      "message m { required int32 id; optional binary name (UTF8); required double score;"
          + " optional group list (LIST) { repeated group list { optional int64 element; } } }");

  /** The KMS of the tests of other implementations. */
  public static class Kms implements KmsClient {
    static final Map<String, byte[]> KEYS = new HashMap<>();

    static {
      KEYS.put("kf", "0123456789012345".getBytes());
      KEYS.put("kc1", "1234567890123450".getBytes());
      KEYS.put("kc2", "1234567890123451".getBytes());
    }

    @Override
    public void initialize(Configuration configuration, String id, String url, String token) {}

    @Override
    public String wrapKey(byte[] key, String masterKey) {
      return KeyToolkit.encryptKeyLocally(key, KEYS.get(masterKey), masterKey.getBytes());
    }

    @Override
    public byte[] unwrapKey(String wrapped, String masterKey) {
      return KeyToolkit.decryptKeyLocally(wrapped, KEYS.get(masterKey), masterKey.getBytes());
    }
  }

  /** The same master keys, which are fetched and wrap here. */
  public static class Local extends LocalWrapKmsClient {
    @Override
    protected void initializeInternal() {}

    @Override
    protected byte[] getMasterKeyFromServer(String masterKey) {
      return Kms.KEYS.get(masterKey);
    }
  }

  static Configuration configuration(String[] words) {
    Configuration configuration = new Configuration();
    configuration.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
    configuration.set("parquet.crypto.factory.class",
        "org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory");
    configuration.set("parquet.encryption.kms.client.class", Kms.class.getName());
    configuration.set("parquet.encryption.cache.lifetime.seconds", "0");
    for (int i = 2; i < words.length; i++) {
      String[] setting = words[i].split("=", 2);
      configuration.set("parquet.encryption." + setting[0], setting[1]);
    }
    return configuration;
  }

  static Group row(int i) {
    Group row = new SimpleGroupFactory(SCHEMA).newGroup();
    row.append("id", i);
    if (i % 7 != 0) {
      row.append("name", "name " + i % 100);
    }
    row.append("score", i / 3.0);
    Group list = row.addGroup("list");
    for (int n = 0; n < i % 3; n++) {
      Group element = list.addGroup("list");
      if (n == 0) {
        element.append("element", (long) i);
      }
    }
    return row;
  }

  static byte[] key(String text) {
    return Base64.getDecoder().decode(text);
  }

  /** The keys of columns that are given as they are, by the paths of the columns. */
  static Map<ColumnPath, byte[]> columnKeys(Configuration configuration) {
    String prefix = "parquet.encryption.raw.column.";
    Map<ColumnPath, byte[]> keys = new HashMap<>();
    for (Map.Entry<String, String> entry : configuration) {
      if (entry.getKey().startsWith(prefix)) {
        keys.put(ColumnPath.fromDotString(entry.getKey().substring(prefix.length())), key(entry.getValue()));
      }
    }
    return keys;
  }

  static FileEncryptionProperties encryption(Configuration configuration, Path path) {
    String footer = configuration.get("parquet.encryption.raw.footer");
    if (footer == null) {
      WriteSupport.WriteContext context = new WriteSupport.WriteContext(SCHEMA, new HashMap<>());
      return EncryptionPropertiesFactory.loadFactory(configuration)
          .getFileEncryptionProperties(configuration, path, context);
    }
    FileEncryptionProperties.Builder builder = FileEncryptionProperties.builder(key(footer))
        .withAlgorithm(ParquetCipher.valueOf(configuration.get("parquet.encryption.algorithm")));
    if (configuration.getBoolean("parquet.encryption.plaintext.footer", false)) {
      builder.withPlaintextFooter();
    }
    String prefix = configuration.get("parquet.encryption.raw.prefix");
    if (prefix != null) {
      builder.withAADPrefix(prefix.getBytes());
      if (!configuration.getBoolean("parquet.encryption.raw.store", true)) {
        builder.withoutAADPrefixStorage();
      }
    }
    Map<ColumnPath, ColumnEncryptionProperties> columns = new HashMap<>();
    columnKeys(configuration).forEach((column, key) ->
        columns.put(column, ColumnEncryptionProperties.builder(column).withKey(key).build()));
    if (!columns.isEmpty()) {
      builder.withEncryptedColumns(columns);
      if (configuration.getBoolean("parquet.encryption.raw.rest", false)) {
        builder.withCompleteColumnEncryption();
      }
    }
    return builder.build();
  }

  static FileDecryptionProperties decryption(Configuration configuration) {
    String footer = configuration.get("parquet.encryption.raw.footer");
    FileDecryptionProperties.Builder builder = FileDecryptionProperties.builder().withFooterKey(key(footer));
    String prefix = configuration.get("parquet.encryption.raw.prefix");
    if (prefix != null) {
      builder.withAADPrefix(prefix.getBytes());
    }
    Map<ColumnPath, ColumnDecryptionProperties> columns = new HashMap<>();
    columnKeys(configuration).forEach((column, key) ->
        columns.put(column, ColumnDecryptionProperties.builder(column).withKey(key).build()));
    return columns.isEmpty() ? builder.build() : builder.withColumnKeys(columns).build();
  }

  static void write(String[] words) throws Exception {
    Configuration configuration = configuration(words);
    Path path = new Path(words[1]);
    FileEncryptionProperties properties = encryption(configuration, path);
    boolean second = configuration.get("parquet.encryption.page", "1").equals("2");
    String codec = configuration.get("parquet.encryption.codec", second ? "SNAPPY" : "UNCOMPRESSED");
    try (ParquetWriter<Group> writer = ExampleParquetWriter.builder(path)
        .withType(SCHEMA)
        .withConf(configuration)
        .withEncryption(properties)
        .withWriterVersion(second ? WriterVersion.PARQUET_2_0 : WriterVersion.PARQUET_1_0)
        .withCompressionCodec(CompressionCodecName.valueOf(codec))
        .withPageWriteChecksumEnabled(second)
        .withBloomFilterEnabled("id", true)
        .withPageRowCountLimit(500)
        .withRowGroupSize(60_000L)
        .build()) {
      for (int i = 0; i < ROWS; i++) {
        writer.write(row(i));
      }
    }
  }

  static void read(String[] words) throws Exception {
    Configuration configuration = configuration(words);
    ParquetReader.Builder<Group> builder =
        ParquetReader.builder(new GroupReadSupport(), new Path(words[1])).withConf(configuration);
    if (configuration.get("parquet.encryption.raw.footer") != null) {
      builder.withDecryption(decryption(configuration));
    }
    try (ParquetReader<Group> reader = builder.build()) {
      for (int i = 0; i < ROWS; i++) {
        if (!row(i).toString().equals(reader.read().toString())) {
          throw new IllegalStateException("row " + i);
        }
      }
      if (reader.read() != null) {
        throw new IllegalStateException("too many rows");
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    java.io.BufferedReader lines = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split("\t");
      try {
        switch (words[0]) {
          case "write" -> write(words);
          case "read" -> read(words);
          default -> KeyToolkit.rotateMasterKeys(words[1], configuration(words));
        }
        System.out.println("ok");
      } catch (Throwable error) {
        System.out.println("error " + error.toString().replace('\n', ' '));
      }
    }
  }
}
