/*
 * Counts the instructions, loads, stores and branches that a program for aarch64 executes in QEMU's user mode.
 *
 *     gcc -shared -fPIC -O2 -o counts.so counts.c
 *     qemu-aarch64 -plugin ./counts.so,out=counts.txt PROGRAM
 *
 * QEMU translates a program block by block, and calls this plugin for each new block. We read the block's instructions once,
 * count them by kind, and ask QEMU to call us whenever the block runs. At the end we write one line for each function:
 * its instructions, loads, stores and branches, and its name. `counts.py` reads these lines.
 *
 * Counts are of instructions: a load of two registers is one load. A block that a signal interrupts counts as a whole.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The part of QEMU's plugin interface that we use, as its documentation describes it: Debian's package has no header for it.
 * This is version 1, of QEMU 6 to 8.
 */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*call)(unsigned, void *),
                                          enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, void *), void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* The instructions of a block that belong to one function, and how often the block ran. */
struct block {
    struct block *next;
    char *function;
    uint64_t runs, instructions, loads, stores, branches;
};

static struct block *blocks;
static const char *out = "counts.txt";

/* True if these bits of the instruction have this value. */
static bool is(uint32_t word, uint32_t bits, uint32_t value) { return (word & bits) == value; }

static bool is_branch(uint32_t word)
{
    return is(word, 0x7c000000, 0x14000000)     /* B, BL */
        || is(word, 0x7e000000, 0x34000000)     /* CBZ, CBNZ */
        || is(word, 0x7e000000, 0x36000000)     /* TBZ, TBNZ */
        || is(word, 0xff000000, 0x54000000)     /* B.cond */
        || is(word, 0xfe000000, 0xd6000000);    /* BR, BLR, RET */
}

/* Adds an instruction of the group "loads and stores" of the Arm Architecture Reference Manual, section C4.1. */
static void add_access(struct block *block, uint32_t word)
{
    bool vector = word >> 26 & 1;
    bool loads = word >> 22 & 1;
    if (is(word, 0x3b000000, 0x18000000)) {                         /* of a literal */
        loads = true;
    } else if (is(word, 0x3f200c00, 0x38200000)) {                  /* atomic: it does both */
        block->stores++;
        loads = true;
    } else if (is(word, 0x38000000, 0x38000000) && !vector) {       /* of one register; bits 23 and 22 are zero in stores */
        if (is(word, 0xc0c00000, 0xc0800000))                       /* a prefetch */
            return;
        loads = word >> 22 & 3;
    }
    if (loads)
        block->loads++;
    else
        block->stores++;
}

static void add(struct block *block, uint32_t word)
{
    block->instructions++;
    if (is(word, 0x0a000000, 0x08000000))
        add_access(block, word);
    else if (is_branch(word))
        block->branches++;
}

static void run(unsigned cpu, void *data)
{
    (void)cpu;
    ((struct block *)data)->runs++;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    struct block *block = calloc(1, sizeof *block);
    const char *name = NULL;
    (void)id;
    if (block == NULL)
        abort();
    for (size_t index = 0; index < qemu_plugin_tb_n_insns(tb); index++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, index);
        uint32_t word;
        memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
        add(block, word);
        if (name == NULL)
            name = qemu_plugin_insn_symbol(instruction);
    }
    block->function = strdup(name != NULL ? name : "-");
    block->next = blocks;
    blocks = block;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, run, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void write_counts(qemu_plugin_id_t id, void *data)
{
    FILE *file = fopen(out, "w");
    (void)id, (void)data;
    if (file == NULL) {
        perror(out);
        return;
    }
    for (const struct block *block = blocks; block != NULL; block = block->next)
        if (block->runs != 0)
            fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", block->runs * block->instructions,
                    block->runs * block->loads, block->runs * block->stores, block->runs * block->branches, block->function);
    fclose(file);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "out=", 4) == 0)
            out = strdup(argv[i] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, write_counts, NULL);
    return 0;
}
