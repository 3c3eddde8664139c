"""Compiled kernels that read the lines of TREC files.

`rankgain._reference.lines` specifies these functions and returns bit-identical results. Functions that process buffers
are `noexcept nogil`; the `def` function that calls them opens the buffers, reserves scratch memory and releases the
GIL.
"""

import os

from cpython.ref cimport PyObject
from libc.float cimport DBL_MAX
from libc.math cimport isnan
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from rankgain._compiled.ids cimport equal_bytes, hash_bytes
from rankgain._codes cimport FEW_FIELDS, INFINITE_GRADE, NAN_GRADE, NAN_SCORE, NOT_A_NUMBER
from rankgain._compiled.walk cimport doubles, integers, little, lowest_set_bit

from rankgain.scalars import decimal

cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")  # random, so attackers cannot choose ids that collide

cdef extern from "Python.h":
    double PyOS_string_to_double(const char*, char**, PyObject*) except? -1.0

cdef enum:
    MAX_FIELDS = 6  # maximum number of fields in a line
    MAX_NUMBER = 40  # maximum number of characters; Python parses longer numbers
    UNREAD = -1  # not an error code; means that Python must parse the next number
    DIGITS = 19  # maximum number of digits; any number of 19 decimal digits fits in 64 bits

cdef extern from *:
    """
    #include "vectors.h"
    #define LOWER 0xFFFFFFFFull
    #define EXACT (1ull << 53)
    #define LOW_SEVEN 0x7F7F7F7F7F7F7F7Full
    #define HIGH_BITS 0x8080808080808080ull
    #define ABOVE_NINE 0x7676767676767676ull  /* the value 0x80 - 10 in each byte */
    #define ONES 0x0F0F0F0F0F0F0F0Full  /* masks for fields of one, two and four decimal digits */
    #define TWOS 0x00FF00FF00FF00FFull
    #define FOURS 0x0000FFFF0000FFFFull
    #define LOWEST_BITS 0x0101010101010101ull
    #define POINTS 0x2E2E2E2E2E2E2E2Eull
    #define ZEROS 0x3030303030303030ull
    #if VECTORS == X86_VECTORS
    static inline uint64_t white_space(const unsigned char* at, uint64_t* newlines) {
        uint64_t mask = 0, ends = 0;
        for (int part = 0; part < 4; part++) {
            __m128i bytes = _mm_loadu_si128((const __m128i*)(at + 16 * part));
            __m128i beyond = _mm_sub_epi8(bytes, _mm_set1_epi8(9));
            __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(beyond, _mm_set1_epi8(4)), beyond);
            __m128i blank = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(32));
            mask |= (uint64_t)_mm_movemask_epi8(_mm_or_si128(blank, control)) << 16 * part;
            ends |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(10))) << 16 * part;
        }
        *newlines = ends;
        return mask;
    }
    static inline uint64_t low_of(const unsigned char* at) {
        __m128i bytes = _mm_loadu_si128((const __m128i*)at);
        return (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(32)), bytes));
    }
    static inline uint64_t low_bytes(const unsigned char* at) {  /* unrolled by hand, since compilers keep a loop */
        return low_of(at) | low_of(at + 16) << 16 | low_of(at + 32) << 32 | low_of(at + 48) << 48;
    }
    #else
    static inline uint64_t gathered(uint64_t high) {  /* collects the highest bit of each of eight bytes */
        return (high >> 7 & LOWEST_BITS) * 0x0102040810204080ull >> 56;
    }
    static inline uint64_t above(uint64_t eight, int least) {  /* sets the highest bit of each byte ≥ least */
        return (eight & LOW_SEVEN) + LOWEST_BITS * (uint64_t)(128 - least) | eight;
    }
    static inline uint64_t white_space(const unsigned char* at, uint64_t* newlines) {
        uint64_t mask = 0, ends = 0;
        for (int part = 7; part >= 0; part--) {
            uint64_t eight = little(at + 8 * part);
            uint64_t control = above(eight, 9) & ~above(eight, 14), blank = above(eight, 32) & ~above(eight, 33);
            mask = mask << 8 | gathered(control | blank);
            ends = ends << 8 | gathered(above(eight, 10) & ~above(eight, 11));
        }
        *newlines = ends;
        return mask;
    }
    static inline uint64_t low_bytes(const unsigned char* at) {
        uint64_t mask = 0;
        for (int part = 7; part >= 0; part--)
            mask = mask << 8 | gathered(~above(little(at + 8 * part), 33));
        return mask;
    }
    #endif
    """
    # Return a 64-bit mask of the bytes that are white space according to bytes.split(); set `newlines` to a mask of the
    # newlines.
    uint64_t white_space(const unsigned char* at, uint64_t* newlines) noexcept nogil
    # mask of the bytes whose value is at most that of a space
    uint64_t low_bytes(const unsigned char* at) noexcept nogil
    const uint64_t HIGH_BITS, LOWEST_BITS, ABOVE_NINE, POINTS, ZEROS, ONES, TWOS, FOURS
    const uint64_t LOWER
    const uint64_t EXACT  # float64 represents all integers up to this value exactly

cdef double POWERS[DIGITS + 1]  # powers of 10 that float64 represents exactly
cdef uint64_t RECIPROCALS[DIGITS + 1]  # reciprocals of POWERS, scaled to 63 bits and truncated
cdef double SCALES[DIGITS + 1]  # powers of 2 that undo the scaling
POWERS[:] = [float(10**n) for n in range(DIGITS + 1)]
RECIPROCALS[:] = [(1 << 62 + (10**n).bit_length()) // 10**n for n in range(DIGITS + 1)]
SCALES[:] = [2.0 ** (2 - (10**n).bit_length()) for n in range(DIGITS + 1)]


cdef inline uint64_t separators(
    const unsigned char* at, const unsigned char* end, uint64_t* newlines
) noexcept nogil:
    """Return the masks of `white_space`, with bytes beyond the end counted as newlines."""
    cdef unsigned char rest[64]
    if end - at >= 64:
        return white_space(at, newlines)
    memset(rest, c'\n', 64)
    memcpy(rest, at, end - at)
    return white_space(rest, newlines)


cdef inline uint64_t upper_product(uint64_t some, uint64_t other) noexcept nogil:
    """Return the upper 64 bits of the product of two 64-bit integers."""
    cdef uint64_t low = (some & LOWER) * (other & LOWER)
    cdef uint64_t middle = (some >> 32) * (other & LOWER) + (low >> 32)
    cdef uint64_t rest = (some & LOWER) * (other >> 32) + (middle & LOWER)
    return (some >> 32) * (other >> 32) + (middle >> 32) + (rest >> 32)


cdef bint divide(uint64_t whole, Py_ssize_t decimals, double* out) noexcept nogil:
    """Compute whole / 10**decimals, correctly rounded, for whole > 0. Return False if the rounding direction cannot be
    decided.

    The left-aligned number is multiplied by the reciprocal. The upper word of the product is too small by less than 2,
    because the reciprocal is too small by less than 1 and the lower word is dropped. The upper 53 bits are the result.
    """
    cdef uint64_t upper, rest, half
    cdef int shift = 0, step = 32, drop
    while step:
        if whole >> (64 - step) == 0:
            whole <<= step
            shift += step
        step >>= 1
    upper = upper_product(whole, RECIPROCALS[decimals])
    drop = 10 if upper >> 62 else 9
    half = <uint64_t>1 << (drop - 1)
    rest = upper & (2 * half - 1)
    if half - 1 <= rest <= half:
        return False
    out[0] = <double><int64_t>((upper >> drop) + (rest > half)) * <double>(2 * half) * SCALES[decimals]
    out[0] /= <double>(<uint64_t>1 << shift)  # exact, because the divisor is a power of 2
    return True


cdef inline uint64_t number_of(uint64_t digits) noexcept nogil:
    """Return the value of eight decimal digits. The digits are combined into pairs, the pairs into groups of four, and
    the two groups of four into the result."""
    digits = (digits & ONES) * (10 * 0x100 + 1) >> 8
    digits = (digits & TWOS) * (100 * 0x10000 + 1) >> 16
    return (digits & FOURS) * (10000 * (LOWER + 1) + 1) >> 32


cdef inline bint read_decimal(
    const unsigned char* at, const unsigned char* end, const unsigned char* limit, double* out
) noexcept nogil:
    """Read a plain decimal number of up to 19 digits, with the same result as `float()`. Return False if Python must
    parse it.

    Numbers of up to 8 digits with a decimal point are read as two words: one word starts at the first digit, and the
    other ends at the last digit. Neither word extends beyond the limit or begins before the data, since three fields
    precede the number.
    """
    cdef bint negative = at[0] == c'-'
    cdef uint64_t points, digits
    cdef Py_ssize_t before, behind  # number of bits before and after the point: 8 per digit
    at += negative
    points = little(at) ^ POINTS if 2 < end - at < 10 and limit - at >= 8 else HIGH_BITS
    points = (points - LOWEST_BITS) & ~points & HIGH_BITS  # now the lowest set bit marks the decimal point
    if points:
        before = <Py_ssize_t>lowest_set_bit(points) - 7
        behind = 8 * (end - at - 1) - before
        if before > 0 and behind > 0:
            digits = (little(at) ^ ZEROS) << (64 - before) >> behind
            digits |= (little(end - 8) ^ ZEROS) >> (64 - behind) << (64 - behind)
            if (digits | digits + ABOVE_NINE) & HIGH_BITS:
                return False
            return quotient(number_of(digits), behind >> 3, negative, out)
    return read_digits(at, end, negative, out)


cdef inline bint quotient(uint64_t whole, Py_ssize_t decimals, bint negative, double* out) noexcept nogil:
    """Compute whole / 10**decimals. Return False if the rounding direction cannot be decided."""
    if whole <= EXACT:
        out[0] = <double><int64_t>whole / POWERS[decimals]
    elif not divide(whole, decimals, out):
        return False
    if negative:
        out[0] = -out[0]
    return True


cdef bint read_digits(const unsigned char* at, const unsigned char* end, bint negative, double* out) noexcept nogil:
    """Read a decimal number byte by byte, beginning after its sign, with the same result as `read_decimal`."""
    cdef uint64_t whole = 0
    cdef Py_ssize_t digits = end - at, decimals = 0
    cdef const unsigned char* point = NULL
    while at < end:
        if c'0' <= at[0] <= c'9':
            whole = 10 * whole + (at[0] - c'0')  # may wrap around, but numbers with too many digits are rejected below
        elif at[0] == c'.' and point == NULL:
            point = at
        else:
            return False
        at += 1
    if point != NULL:
        digits -= 1
        decimals = end - point - 1
    return 0 < digits <= DIGITS and quotient(whole, decimals, negative, out)


cdef bint read_float(const unsigned char* at, Py_ssize_t length, double* out) except -1:
    """Read a number of digits, sign, point and exponent with the C function behind `float()`. Return False if the
    number is invalid."""
    cdef char text[MAX_NUMBER + 1]
    cdef char* end
    cdef Py_ssize_t index
    if length > MAX_NUMBER:
        return False
    for index in range(length):
        if not c'0' <= at[index] <= c'9' and at[index] not in (c'+', c'-', c'.', c'e', c'E'):
            return False
        text[index] = at[index]
    text[length] = 0
    try:
        out[0] = PyOS_string_to_double(text, &end, NULL)
    except (ValueError, OverflowError):
        return False
    return end == text + length


cdef struct Run:
    # A run of consecutive rows that belong to the same query.
    int64_t row  # index of the first row
    int64_t start  # byte offset of the query id
    int64_t end


cdef struct Output:
    # The buffers that `scan` fills; see `_reference/lines.py`.
    int64_t* starts
    int64_t* ends
    double* values
    uint64_t* hashes
    Run* runs


cdef int64_t* ints(object buffer) except? NULL:
    """Return the address of a buffer. The caller must keep the buffer alive."""
    cdef const int64_t[::1] view = buffer
    return <int64_t*>integers(view)


cdef double* floats(object buffer) except? NULL:
    """Return the address of a buffer, as `ints` does."""
    cdef const double[::1] view = buffer
    return <double*>doubles(view)


cdef Output output_of(tuple buffers) except *:
    """Return the addresses of the buffers, which must have room for a row and a run per line."""
    cdef Output output
    starts, ends, values, hashes, runs = buffers
    output.starts = ints(starts)
    output.ends = ints(ends)
    output.values = floats(values)
    output.hashes = <uint64_t*>ints(hashes)
    output.runs = <Run*>ints(runs)
    return output


cdef struct Span:
    const unsigned char* start
    const unsigned char* end


cdef struct Lines:
    # The state of a scan: the layout of the lines, the current position, the fields of the last line, and the sizes of
    # the output.
    int field_count
    int document_field
    int value_field
    Output output
    const unsigned char* data
    const unsigned char* at
    const unsigned char* end
    Py_ssize_t line
    Py_ssize_t fields
    Py_ssize_t rows
    Py_ssize_t count  # number of runs
    Span spans[MAX_FIELDS]
    Span number  # the number that Python must parse next


cdef int scan_on(Lines* lines) noexcept nogil:
    """Read lines; return 0 at the end, an error code at an invalid line, or UNREAD at a number that Python must
    parse."""
    cdef const unsigned char* end = lines.end
    cdef const unsigned char* at = lines.at
    cdef const unsigned char* after
    cdef Span query, document, number
    cdef uint64_t one, two, three, four, five, six
    cdef Py_ssize_t line = lines.line
    cdef int code = 0, field_count = lines.field_count
    cdef double value
    # Reading a number as whole words requires that three fields precede it.
    cdef const unsigned char* limit = end if lines.value_field > 2 else at
    cdef bint is_run = field_count == MAX_FIELDS and lines.document_field == 2
    while at < end and not code:
        # The fast path takes two thirds of the time of `scan_line`. It handles lines of at most 64 bytes with the six
        # fields of a run, separated by single spaces. The lowest set bit of a mask marks the end of a field, and each
        # mask is the previous mask without that bit.
        one = low_bytes(at) if is_run and end - at >= 64 else 0
        two = one & (one - 1)
        three = two & (two - 1)
        four = three & (three - 1)
        five = four & (four - 1)
        six = five & (five - 1)
        if (
            six and at[lowest_set_bit(six)] == c'\n' and at[lowest_set_bit(one)] == at[lowest_set_bit(two)] == c' '
            and at[lowest_set_bit(three)] == at[lowest_set_bit(four)] == at[lowest_set_bit(five)] == c' '
            and (one & (one << 1 | 1)) << (63 - lowest_set_bit(six)) == 0 and at[0] != c'#'
        ):
            query.start, query.end = at, at + lowest_set_bit(one)
            document.start, document.end = at + lowest_set_bit(two) + 1, at + lowest_set_bit(three)
            number.start, number.end = at + lowest_set_bit(four) + 1, at + lowest_set_bit(five)
            after = at + lowest_set_bit(six) + 1
        else:
            after = scan_line(lines, at, field_count)
            if lines.fields == 0 or lines.spans[0].start[0] == c'#':
                at = after
                line += 1
                continue
            if lines.fields != field_count:
                code = FEW_FIELDS
                break
            query, document = lines.spans[0], lines.spans[lines.document_field]
            number = lines.spans[lines.value_field]
        if not read_decimal(number.start, number.end, limit, &value):
            code = UNREAD
            lines.number = number
        add_row(lines, query, document, value)
        at = after
        line += 1
    lines.at = at
    lines.line = line
    return code


cdef const unsigned char* scan_line(Lines* lines, const unsigned char* at, int field_count) noexcept nogil:
    """Find the fields of a line in any layout; return the start of the next line."""
    cdef const unsigned char* start = at
    cdef const unsigned char* stop
    cdef uint64_t newlines, mask = separators(at, lines.end, &newlines)
    cdef unsigned int index
    lines.fields = 0
    while True:
        while mask == 0:
            at += 64
            mask = separators(at, lines.end, &newlines)
        index = lowest_set_bit(mask)
        mask &= mask - 1
        stop = at + index
        if stop > start:
            if lines.fields < field_count:
                lines.spans[lines.fields].start = start
                lines.spans[lines.fields].end = stop
            lines.fields += 1
        start = stop + 1
        if newlines >> index & 1:
            return start


cdef inline void add_row(Lines* lines, Span query, Span document, double value) noexcept nogil:
    """Append a row and, unless the previous row has the same query, a run of rows."""
    cdef const unsigned char* data = lines.data
    cdef const Output* output = &lines.output
    cdef Py_ssize_t length = query.end - query.start, row = lines.rows
    cdef Run* run = output.runs + lines.count
    cdef Run* before = run - 1
    if (
        lines.count == 0 or before.end - before.start != length
        or not equal_bytes(data + before.start, query.start, length)
    ):
        run.row = row
        run.start = query.start - data
        run.end = query.end - data
        lines.count += 1
    output.starts[row] = document.start - data
    output.ends[row] = document.end - data
    output.values[row] = value
    output.hashes[row] = hash_bytes(document.start, document.end - document.start, SEED)
    lines.rows = row + 1


def scan(
    const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t stop, tuple buffers, int field_count,
    int document_field, int value_field, bint grades, /
):
    """Read the lines between two offsets, each of which is the beginning of a line or the end of the data.

    The buffers must have room for all lines. Return the number of rows and of runs, and None; or 0, 0 and the first
    error, after which the buffers hold the lines before it.
    """
    cdef Lines lines
    cdef int code
    cdef Py_ssize_t length
    cdef double number
    lines.field_count, lines.document_field, lines.value_field = field_count, document_field, value_field
    lines.output = output_of(buffers)
    lines.data = &data[0] if data.shape[0] else NULL
    lines.at = lines.data + start
    lines.end = lines.data + stop
    lines.line = lines.rows = lines.count = 0
    while True:
        with nogil:
            code = scan_on(&lines)
        if code == FEW_FIELDS:
            return 0, 0, (FEW_FIELDS, lines.line, lines.fields)
        if code == 0:
            break
        length = lines.number.end - lines.number.start
        if not read_float(lines.number.start, length, &number):
            parsed = decimal((<const char*>lines.number.start)[:length])
            if parsed is None:
                return 0, 0, (NOT_A_NUMBER, lines.line - 1, value_field)
            number = parsed
        if isnan(number):
            return 0, 0, (NAN_GRADE if grades else NAN_SCORE, lines.line - 1, value_field)
        if grades and not -DBL_MAX <= number <= DBL_MAX:
            return 0, 0, (INFINITE_GRADE, lines.line - 1, value_field)
        lines.output.values[lines.rows - 1] = number
    return lines.rows, lines.count, None
