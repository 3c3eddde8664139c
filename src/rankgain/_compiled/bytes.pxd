# Stretches of bytes, eight at a time: what `columns` and `lines` do with ids.
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy


cdef inline uint64_t word(const unsigned char* at) noexcept nogil:
    cdef uint64_t value
    memcpy(&value, at, 8)
    return value


cdef inline uint64_t half_word(const unsigned char* at) noexcept nogil:
    cdef uint32_t value
    memcpy(&value, at, 4)
    return value


cdef inline bint equal_bytes(const unsigned char* some, const unsigned char* other, Py_ssize_t length) noexcept nogil:
    """Whether stretches of one length are equal; the last bytes are looked at for the second time, if need be."""
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
    """A hash that depends on the seed; bytes of one length up to 8 never share theirs."""
    cdef uint64_t value = seed + <uint64_t>length * ODD  # else "1233" and "123" might be the same 64 bits
    if length >= 8:
        while length > 8:
            value = stir(value ^ word(at))
            at += 8
            length -= 8
        return stir(stir(value ^ word(at + length - 8)))  # the last eight bytes, some of them for the second time
    if length >= 4:
        return stir(stir(value ^ (half_word(at) << 32 | half_word(at + length - 4))))
    if length:
        value ^= <uint64_t>at[0] << 16 | <uint64_t>at[length // 2] << 8 | at[length - 1]
    return stir(stir(value))
