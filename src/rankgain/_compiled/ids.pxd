# Ids of rows and a hash table of ids, shared by `columns` and `lines`.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy


# bytes, eight at a time


cdef inline uint64_t load_8(const unsigned char* at) noexcept nogil:
    cdef uint64_t value
    memcpy(&value, at, 8)
    return value


cdef inline uint64_t load_4(const unsigned char* at) noexcept nogil:
    cdef uint32_t value
    memcpy(&value, at, 4)
    return value


cdef inline bint equal_bytes(const unsigned char* some, const unsigned char* other, Py_ssize_t length) noexcept nogil:
    """Whether bytes of the same length are equal; the last words may overlap."""
    if length >= 8:
        while length > 8:
            if load_8(some) != load_8(other):
                return False
            some += 8
            other += 8
            length -= 8
        return load_8(some + length - 8) == load_8(other + length - 8)
    if length >= 4:
        return load_4(some) == load_4(other) and load_4(some + length - 4) == load_4(other + length - 4)
    return length == 0 or (
        some[0] == other[0] and some[length // 2] == other[length // 2] and some[length - 1] == other[length - 1]
    )


cdef extern from *:
    """
    #define ODD 0x9E3779B97F4A7C15ull
    """
    const uint64_t ODD


cdef inline uint64_t mix(uint64_t value) noexcept nogil:
    value *= ODD
    return value ^ (value >> 32)


cdef inline uint64_t hash_bytes(const unsigned char* at, Py_ssize_t length, uint64_t seed) noexcept nogil:
    """A seeded hash of bytes. Different ids of the same length up to 8 bytes never collide.

    Flipping the highest bit of a word flips the same two bits of the result of `mix` under every seed, which a crafted
    next word could undo to cause collisions. The secret factor makes the flip unpredictable.
    """
    cdef uint64_t value = seed + <uint64_t>length * ODD  # else "1233" and "123" would load as the same 64 bits
    if length >= 8:
        while length > 8:
            value = mix(value ^ load_8(at)) * (seed | 1)
            at += 8
            length -= 8
        return mix(mix(value ^ load_8(at + length - 8)))  # the last eight bytes, which may overlap
    if length >= 4:
        return mix(mix(value ^ (load_4(at) << 32 | load_4(at + length - 4))))
    if length:
        value ^= <uint64_t>at[0] << 16 | <uint64_t>at[length // 2] << 8 | at[length - 1]
    return mix(mix(value))


# rows

cdef struct Keys:
    # The ids of rows: bytes starts[i] … ends[i] − 1 of the data or, if starts is NULL, integers of `width` bytes.
    const unsigned char* data
    const int64_t* starts
    const int64_t* ends
    Py_ssize_t width


cdef inline Keys keys_from(const Keys* keys, Py_ssize_t start) noexcept nogil:
    cdef Keys rest = keys[0]
    if keys.starts == NULL:
        rest.data += keys.width * start
    else:
        rest.starts += start
        rest.ends += start
    return rest


cdef inline const unsigned char* bytes_of(const Keys* keys, Py_ssize_t row, Py_ssize_t* length) noexcept nogil:
    """The bytes of a text id."""
    length[0] = <Py_ssize_t>(keys.ends[row] - keys.starts[row])
    return keys.data + keys.starts[row]


cdef inline int64_t id_number(const Keys* keys, Py_ssize_t row) noexcept nogil:
    return (<const int32_t*>keys.data)[row] if keys.width == 4 else (<const int64_t*>keys.data)[row]


cdef inline bint same(const Keys* some, Py_ssize_t row, const Keys* others, Py_ssize_t other) noexcept nogil:
    cdef Py_ssize_t length, other_length
    cdef const unsigned char* at
    cdef const unsigned char* other_at
    if some.starts == NULL:
        return id_number(some, row) == id_number(others, other)
    at = bytes_of(some, row, &length)
    other_at = bytes_of(others, other, &other_length)
    return length == other_length and equal_bytes(at, other_at, length)


cdef inline int compare_ids(const Keys* some, Py_ssize_t row, const Keys* others, Py_ssize_t other) noexcept nogil:
    """Three-way comparison, in Python's order of bytes or integers: negative, 0 or positive."""
    cdef Py_ssize_t length, other_length
    cdef const unsigned char* at
    cdef const unsigned char* other_at
    cdef int order
    if some.starts == NULL:
        return (id_number(some, row) > id_number(others, other)) - (id_number(some, row) < id_number(others, other))
    at = bytes_of(some, row, &length)
    other_at = bytes_of(others, other, &other_length)
    order = memcmp(at, other_at, min(length, other_length)) if length and other_length else 0
    return order if order else (length > other_length) - (length < other_length)


# A hash table with open addressing. A slot holds the upper half of a hash in its upper 32 bits and 1 + the number of
# an id in the lower ones; 0 marks a free slot.

cdef inline uint64_t table_mask(Py_ssize_t n) noexcept nogil:
    """The number of slots for n ids, minus 1. It is a power of 2, at most 4·n, and at least half of them stay free."""
    cdef uint64_t size = 4
    while size < 2 * <uint64_t>n:
        size *= 2
    return size - 1


cdef inline uint64_t* slot_of(
    uint64_t* slots, uint64_t mask, uint64_t hashed, const Keys* ids, const unsigned char* at, Py_ssize_t length
) noexcept nogil:
    """The slot of an id, or the free slot to insert it; `ids` holds the ids by number."""
    cdef uint64_t index = hashed & mask
    cdef Py_ssize_t other_length
    cdef const unsigned char* other
    while slots[index]:
        if slots[index] >> 32 == hashed >> 32:
            other = bytes_of(ids, <Py_ssize_t>slot_number(slots[index]), &other_length)
            if length == other_length and equal_bytes(at, other, length):
                break
        index = (index + 1) & mask
    return slots + index


cdef inline int64_t slot_number(uint64_t slot) noexcept nogil:
    """The number in a slot; −1 in a free one."""
    return <int64_t><uint32_t>slot - 1


cdef inline uint64_t slot_value(uint64_t hashed, int64_t number) noexcept nogil:
    return (hashed >> 32 << 32) | <uint64_t>(number + 1)


cdef inline void index_ids(
    uint64_t* slots, uint64_t mask, const Keys* ids, Py_ssize_t n, uint64_t seed
) noexcept nogil:
    """Insert the first n ids, all different, into an empty table."""
    cdef Py_ssize_t row, length
    cdef const unsigned char* at
    cdef uint64_t hashed
    for row in range(n):
        at = bytes_of(ids, row, &length)
        hashed = hash_bytes(at, length, seed)
        slot_of(slots, mask, hashed, ids, at, length)[0] = slot_value(hashed, row)
