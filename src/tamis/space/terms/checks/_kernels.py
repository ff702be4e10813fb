"""Find the flags that texts set, from the numbers of their words.

The *code* of a word is its one flag, or ``~place`` of a list: a count and as many flags, then a count and as
many *slots*. A slot stands for a term of phrases and all-of checks. ``pairs`` holds, for two slots that are
neighbours in a phrase, their key and the number of the pair plus one.
"""

import numpy as np

from tamis.kernel import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SIDE = np.uint64(32)


@kernel(inline="always")
def pair_place(key, size):
    """Return the place in a table of ``size`` pairs where the search for a pair begins."""
    return np.int64(((key * _MIX) >> _SIDE) & np.uint64(size - 1))


@kernel
def enter_pairs(key, pairs):
    """Enter the keys of distinct pairs; the table has at least twice as many places, a power of two."""
    size = len(pairs) // 2
    for n in range(len(key)):
        at = pair_place(key[n], size)
        while pairs[2 * at + 1] != 0:
            at = (at + 1) & (size - 1)
        pairs[2 * at], pairs[2 * at + 1] = key[n], np.uint64(n + 1)


@kernel
def find_pair(one, two, pairs):
    """Return the number of a pair of slots, -1 if no phrase is looked for by it."""
    key = np.uint64(one) << _SIDE | np.uint64(two)
    size = len(pairs) // 2
    at = pair_place(key, size)
    while pairs[2 * at + 1] != 0:
        if pairs[2 * at] == key:
            return np.int64(pairs[2 * at + 1]) - 1
        at = (at + 1) & (size - 1)
    return np.int64(-1)


@kernel(inline="always")
def slots_of(word, code, lists):
    """Return where the slots of a word begin and end; -1 is an unknown word, which has none."""
    if word < 0 or code[word] >= 0:
        return np.int64(0), np.int64(0)
    place = np.int64(~code[word])
    place += np.int64(lists[place]) + 1
    return place + 1, place + 1 + np.int64(lists[place])


@kernel
def merged_room(word, place, code, lists):
    """Return how much room the lists need that ``merge_lists`` writes, or more."""
    room = np.int64(0)
    for i in range(len(word)):
        room += np.int64(lists[place[i]]) + np.int64(lists[place[i] + 1 + lists[place[i]]])
        own = code[word[i]]
        if i == 0 or word[i] != word[i - 1]:
            room += 3
            if own < 0:
                room += np.int64(lists[~own]) + np.int64(lists[~own + 1 + lists[~own]])
    return room


@kernel
def copy_list(place, lists, at):
    """Copy the items of the list at ``place``, which begins with their count, to ``at``; return their end."""
    for i in range(place + 1, place + 1 + np.int64(lists[place])):
        lists[at] = lists[i]
        at += 1
    return at


@kernel
def merge_lists(word, place, code, lists, used):
    """Give words a list of their own flags and slots and of those of some terms; return the end of the lists.

    ``word`` is sorted, and ``place`` has the place of the list of a term that each satisfies. The lists are
    written from ``used`` on.
    """
    first = 0
    while first < len(word):
        w, last = word[first], first
        while last < len(word) and word[last] == w:
            last += 1
        own, at = np.int64(code[w]), used + 1
        if own >= 0:
            lists[at] = own
            at += 1
        else:
            at = copy_list(~own, lists, at)
        for i in range(first, last):
            at = copy_list(place[i], lists, at)
        lists[used] = at - used - 1
        slots, at = at, at + 1
        if own < 0:
            at = copy_list(~own + 1 + np.int64(lists[~own]), lists, at)
        for i in range(first, last):
            at = copy_list(place[i] + 1 + np.int64(lists[place[i]]), lists, at)
        lists[slots] = at - slots - 1
        code[w] = ~used
        used, first = at, last
    return used


@kernel
def stands_at(phrase, at, end, token, code, lists, slot_start, slot):
    """Return whether the words from token ``at`` satisfy the slots of a phrase in turn."""
    first, last = slot_start[phrase], slot_start[phrase + 1]
    if at + last - first > end:
        return False
    for i in range(first, last):
        low, high = slots_of(token[at + i - first], code, lists)
        while low < high and lists[low] != slot[i]:
            low += 1
        if low == high:
            return False
    return True


@kernel
def flag_phrases(
    begin, end, mark, token, code, lists, base, flag_seen, pairs, pair_start, pair_phrase, offset, slot_start,
    slot, flag, out, written,
):  # fmt: skip
    """Write the flags of the phrases among the tokens begin:end, each once; return the end of the flags."""
    low, high = slots_of(token[begin], code, lists)
    for at in range(begin, end - 1):
        next_low, next_high = slots_of(token[at + 1], code, lists)
        for i in range(low, high):
            for j in range(next_low, next_high):
                pair = find_pair(lists[i], lists[j], pairs)
                if pair < 0:
                    continue
                for k in range(pair_start[pair], pair_start[pair + 1]):
                    phrase = pair_phrase[k]
                    d = flag[phrase]
                    first = at - offset[phrase]
                    if flag_seen[d - base] == mark or first < begin:
                        continue
                    if stands_at(phrase, first, end, token, code, lists, slot_start, slot):
                        flag_seen[d - base] = mark
                        out[written] = d
                        written += 1
        low, high = next_low, next_high
    return written


@kernel
def flag_all(
    mark, met, met_count, slot_seen, base, flag_seen, trigger_start, trigger, slot_start, slot, flag, out,
    written,
):  # fmt: skip
    """Write the flags of the all-of checks whose slots have all been seen; return the end of the flags.

    ``met`` has the slots of this text. A check is tried if its trigger is among them.
    """
    for m in range(met_count):
        for k in range(trigger_start[met[m]], trigger_start[met[m] + 1]):
            check = trigger[k]
            i = slot_start[check]
            while i < slot_start[check + 1] and slot_seen[slot[i]] == mark:
                i += 1
            d = flag[check]
            if i == slot_start[check + 1] and flag_seen[d - base] != mark:
                flag_seen[d - base] = mark
                out[written] = d
                written += 1
    return written


@kernel
def flag_texts(
    begin, token_start, token, first_mark, code, lists, base, flag_seen, seen, slot_seen, met, pairs,
    pair_start, pair_phrase, offset, phrase_start, phrase_slot, phrase_flag, trigger_start, trigger,
    all_start, all_slot, all_flag, out, count,
):  # fmt: skip
    """Write the flags of texts from ``begin``, each once for a text, and how many each has.

    ``seen``, ``flag_seen`` and ``slot_seen`` hold marks of earlier texts, all below ``first_mark``. Return
    how many texts are done and flags written. Stop at a text if ``out`` may overflow.
    """
    written = 0
    for row in range(begin, len(token_start) - 1):
        mark = first_mark + row
        own, slots = written, 0
        low, high = token_start[row], token_start[row + 1]
        if written + high - low + len(flag_seen) > len(out):
            return row, written
        for t in range(low, high):
            n = token[t]
            if n < 0 or seen[n] == mark:
                continue
            seen[n] = mark
            c = np.int64(code[n])
            if c >= 0:
                out[written] = c
                written += 1
                continue
            place = ~c
            end = place + 1 + np.int64(lists[place])
            for i in range(place + 1, end):
                d = lists[i]
                if flag_seen[d - base] != mark:
                    flag_seen[d - base] = mark
                    out[written] = d
                    written += 1
            for i in range(end + 1, end + 1 + np.int64(lists[end])):
                if slot_seen[lists[i]] != mark:
                    slot_seen[lists[i]] = mark
                    met[slots] = lists[i]
                    slots += 1
        if slots > 0 and len(phrase_flag) > 0:
            written = flag_phrases(
                low, high, mark, token, code, lists, base, flag_seen, pairs, pair_start, pair_phrase, offset,
                phrase_start, phrase_slot, phrase_flag, out, written, )  # fmt: skip
        if slots > 0 and len(all_flag) > 0:
            written = flag_all(
                mark, met, slots, slot_seen, base, flag_seen, trigger_start, trigger, all_start, all_slot,
                all_flag, out, written, )  # fmt: skip
        count[row] = written - own
    return len(token_start) - 1, written
