# Ids of rows and a hash table of them: what `columns` and `lines` share.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy


# bytes, eight at a time


cdef inline uint64_t word(const unsigned char* at) noexcept nogil:
    cdef uint64_t value
    memcpy(&value, at, 8)
    return value


cdef inline uint64_t half_word(const unsigned char* at) noexcept nogil:
    cdef uint32_t value
    memcpy(&value, at, 4)
    return value


cdef inline bint equal_bytes(const unsigned char* some, const unsigned char* other, Py_ssize_t length) noexcept nogil:
    """Whether bytes of the same length are equal; the last words may overlap."""
    if length >= 8:
        while length > 8:
            if word(some) != word(other):
                return False
            some += 8
            other += 8
            length -= 8
        return word(some + length - 8) == word(other + length - 8)
    if length >= 4:
        return half_word(some) == half_word(other) and half_word(some + length - 4) == half_word(other + length - 4)
    return length == 0 or (
        some[0] == other[0] and some[length // 2] == other[length // 2] and some[length - 1] == other[length - 1]
    )


cdef extern from *:
    """
    #define ODD 0x9E3779B97F4A7C15ull
    """
    const uint64_t ODD


cdef inline uint64_t stir(uint64_t value) noexcept nogil:
    value *= ODD
    return value ^ (value >> 32)


cdef inline uint64_t hash_bytes(const unsigned char* at, Py_ssize_t length, uint64_t seed) noexcept nogil:
    """A hash that depends on the seed; bytes of one length up to 8 never share theirs.

    A change of the highest bit of a word changes the same two bits of what `stir` returns, whatever the seed, so that
    the next word could undo it. The secret factor makes the change unpredictable.
    """
    cdef uint64_t value = seed + <uint64_t>length * ODD  # else "1233" and "123" might be the same 64 bits
    if length >= 8:
        while length > 8:
            value = stir(value ^ word(at)) * (seed | 1)
            at += 8
            length -= 8
        return stir(stir(value ^ word(at + length - 8)))  # the last eight bytes, which may overlap
    if length >= 4:
        return stir(stir(value ^ (half_word(at) << 32 | half_word(at + length - 4))))
    if length:
        value ^= <uint64_t>at[0] << 16 | <uint64_t>at[length // 2] << 8 | at[length - 1]
    return stir(stir(value))


# rows

cdef struct Keys:
    # Ids of rows: bytes starts[i] … ends[i] − 1 of the data; if starts is NULL, numbers of 4 or 8 bytes.
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
    if keys.starts == NULL:
        length[0] = keys.width
        return keys.data + keys.width * row
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
    """Below 0, 0 or above 0, as Python orders bytes or numbers."""
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


# A hash table with open addressing. A slot has half of a hash in its upper 32 bits and, in the lower ones, 1 + the
# number of an id; 0 is a free slot.

cdef inline uint64_t table_mask(Py_ssize_t n) noexcept nogil:
    """One less than the slots for n ids: a power of 2, at most 4 n, of which at least half stay free."""
    cdef uint64_t size = 4
    while size < 2 * <uint64_t>n:
        size *= 2
    return size - 1


cdef inline uint64_t* slot_of(
    uint64_t* slots, uint64_t mask, uint64_t hashed, const Keys* ids, const unsigned char* at, Py_ssize_t length
) noexcept nogil:
    """The slot of an id, or the free one where it goes; the ids by their numbers."""
    cdef uint64_t place = hashed & mask
    cdef Py_ssize_t other_length
    cdef const unsigned char* other
    while slots[place]:
        if slots[place] >> 32 == hashed >> 32:
            other = bytes_of(ids, <Py_ssize_t>slot_number(slots[place]), &other_length)
            if length == other_length and equal_bytes(at, other, length):
                break
        place = (place + 1) & mask
    return slots + place


cdef inline int64_t slot_number(uint64_t slot) noexcept nogil:
    """The number in a slot; -1 if it is free."""
    return <int64_t><uint32_t>slot - 1


cdef inline uint64_t slot_value(uint64_t hashed, int64_t number) noexcept nogil:
    return (hashed >> 32 << 32) | <uint64_t>(number + 1)


cdef inline void index_ids(
    uint64_t* slots, uint64_t mask, const Keys* ids, Py_ssize_t n, uint64_t seed
) noexcept nogil:
    """Put the first n ids, all different, into an empty table."""
    cdef Py_ssize_t row, length
    cdef const unsigned char* at
    cdef uint64_t hashed
    for row in range(n):
        at = bytes_of(ids, row, &length)
        hashed = hash_bytes(at, length, seed)
        slot_of(slots, mask, hashed, ids, at, length)[0] = slot_value(hashed, row)
