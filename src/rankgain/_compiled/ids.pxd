# Ids of rows and a hash table of ids, shared by `columns` and `lines`.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy


# functions that process eight bytes at a time


cdef inline uint64_t load_8(const unsigned char* at) noexcept nogil:
    """Return eight bytes, which need not be aligned, in the byte order of the machine."""
    cdef uint64_t value
    memcpy(&value, at, 8)
    return value


cdef inline uint64_t load_4(const unsigned char* at) noexcept nogil:
    """Return four bytes, which need not be aligned, in the byte order of the machine."""
    cdef uint32_t value
    memcpy(&value, at, 4)
    return value


cdef inline bint equal_bytes(const unsigned char* some, const unsigned char* other, Py_ssize_t length) noexcept nogil:
    """Return whether two byte strings of the same length are equal. The last two words compared may overlap."""
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
    """Return a bijection of 64-bit integers, in which the lower half depends on all bits."""
    value *= ODD
    return value ^ (value >> 32)


cdef inline uint64_t hash_bytes(const unsigned char* at, Py_ssize_t length, uint64_t seed) noexcept nogil:
    """Return a seeded hash of bytes. Distinct ids of equal length never collide if they have at most 8 bytes.

    If the highest bit of a word is flipped, the same two bits of the result of `mix` are flipped, whatever the seed. An
    attacker could craft a next word that reverts this flip and causes a collision. The secret factor makes the flipped
    bits unpredictable.
    """
    # without the length, "1233" and "123" would be loaded as the same 64 bits
    cdef uint64_t value = seed + <uint64_t>length * ODD
    if length >= 8:
        while length > 8:
            value = mix(value ^ load_8(at)) * (seed | 1)
            at += 8
            length -= 8
        return mix(mix(value ^ load_8(at + length - 8)))  # the last eight bytes, which may overlap the previous word
    if length >= 4:
        return mix(mix(value ^ (load_4(at) << 32 | load_4(at + length - 4))))
    if length:
        value ^= <uint64_t>at[0] << 16 | <uint64_t>at[length // 2] << 8 | at[length - 1]
    return mix(mix(value))


# access to the ids of rows

cdef struct Keys:
    # The ids of rows. A text id is stored in bytes starts[i] … ends[i] − 1 of the data. If `starts` is NULL, the data
    # are integers of `width` bytes.
    const unsigned char* data
    const int64_t* starts
    const int64_t* ends
    Py_ssize_t width


cdef inline Keys keys_from(const Keys* keys, Py_ssize_t start) noexcept nogil:
    """Return the ids from a row on, which then has the index 0. The buffers are shared."""
    cdef Keys rest = keys[0]
    if keys.starts == NULL:
        rest.data += keys.width * start
    else:
        rest.starts += start
        rest.ends += start
    return rest


cdef inline const unsigned char* bytes_of(const Keys* keys, Py_ssize_t row, Py_ssize_t* length) noexcept nogil:
    """Return the address of the bytes of a text id, and set `length`."""
    length[0] = <Py_ssize_t>(keys.ends[row] - keys.starts[row])
    return keys.data + keys.starts[row]


cdef inline int64_t id_number(const Keys* keys, Py_ssize_t row) noexcept nogil:
    """Return an integer id. `keys.starts` must be NULL."""
    return (<const int32_t*>keys.data)[row] if keys.width == 4 else (<const int64_t*>keys.data)[row]


cdef inline bint same(const Keys* some, Py_ssize_t row, const Keys* others, Py_ssize_t other) noexcept nogil:
    """Return whether two ids are equal. Both sides must be text, or both integers."""
    cdef Py_ssize_t length, other_length
    cdef const unsigned char* at
    cdef const unsigned char* other_at
    if some.starts == NULL:
        return id_number(some, row) == id_number(others, other)
    at = bytes_of(some, row, &length)
    other_at = bytes_of(others, other, &other_length)
    return length == other_length and equal_bytes(at, other_at, length)


cdef inline int compare_ids(const Keys* some, Py_ssize_t row, const Keys* others, Py_ssize_t other) noexcept nogil:
    """Compare two ids in Python's order of bytes or integers; return a negative number, 0 or a positive number."""
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


# A hash table with open addressing. The upper 32 bits of a slot hold the upper half of a hash, and the lower 32 bits
# hold 1 + the number of an id. A free slot is 0.

cdef inline uint64_t table_mask(Py_ssize_t n) noexcept nogil:
    """Return the number of slots for n ids, minus 1. The number of slots is a power of 2 and at most 4·n, and at least
    half of the slots stay free."""
    cdef uint64_t size = 4
    while size < 2 * <uint64_t>n:
        size *= 2
    return size - 1


cdef inline uint64_t* slot_of(
    uint64_t* slots, uint64_t mask, uint64_t hashed, const Keys* ids, const unsigned char* at, Py_ssize_t length
) noexcept nogil:
    """Return the slot that holds an id, or the free slot where the id can be inserted. `ids` holds the ids in the order
    of their numbers."""
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
    """Return the number stored in a slot, or −1 if the slot is free."""
    return <int64_t><uint32_t>slot - 1


cdef inline uint64_t slot_value(uint64_t hashed, int64_t number) noexcept nogil:
    """Return a slot with the upper half of a hash and a number below 2^32 − 1; it is never 0, the free slot."""
    return (hashed >> 32 << 32) | <uint64_t>(number + 1)


cdef inline void index_ids(
    uint64_t* slots, uint64_t mask, const Keys* ids, Py_ssize_t n, uint64_t seed
) noexcept nogil:
    """Insert the first n ids, which must be distinct, into an empty table."""
    cdef Py_ssize_t row, length
    cdef const unsigned char* at
    cdef uint64_t hashed
    for row in range(n):
        at = bytes_of(ids, row, &length)
        hashed = hash_bytes(at, length, seed)
        slot_of(slots, mask, hashed, ids, at, length)[0] = slot_value(hashed, row)
