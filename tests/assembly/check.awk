# SPDX-License-Identifier: MIT
# Compares machine code with bounds (bounds.txt says what they mean):
#
#     objdump -d --no-show-raw-insn -C OBJECT | awk -v set=SET -f check.awk bounds.txt -
#
# Prints each function that is out of bounds, and ends with 1 if there is one; with -v verbose=1, all figures.
# A loop is what lies between a conditional jump backwards and its target (others come back from what the compiler put
# behind the function), unless the function returns there; the hot one has most instructions on full registers.

# Addresses are hexadecimal: filled up with zeros, they compare as strings.
function padded(address) {
    while (length(address) < 12) {
        address = "0" address
    }
    return address
}

function is_vector(k) { return text_of[k] ~ "%" registers[wanted] }
function is_scalar(k) {
    return text_of[k] ~ /^v?(mov|add|sub|mul|div|min|max|sqrt|ucomi|comi|fn?m(add|sub)[0-9]*)s[sd] /
}
function is_on_stack(k) { return text_of[k] ~ /\(%[re]sp/ }

# Whether what lies between a jump and its target is no loop: the function's end, with what jumps there put behind it.
function returns(i,    k) {
    for (k = 1; k <= instructions; ++k) {
        if (address_of[k] >= first[i] && address_of[k] <= last[i] && text_of[k] ~ /^ret/) {
            return 1
        }
    }
    return 0
}

# Whether a loop is in loop `i`.
function has_inner_loop(i,    j) {
    for (j = 1; j <= loops; ++j) {
        if (first[j] >= first[i] && last[j] <= last[i] && (first[j] != first[i] || last[j] != last[i])) {
            return 1
        }
    }
    return 0
}

function finish_function(    i, k, vectors, scalars, stack, hot_vectors, hot_scalars, hot_stack, all_stack) {
    if (!wanted) {
        return
    }
    hot_vectors = -1
    for (i = 1; i <= loops; ++i) {
        if (has_inner_loop(i) || returns(i)) {
            continue
        }
        vectors = scalars = stack = 0
        for (k = 1; k <= instructions; ++k) {
            if (address_of[k] >= first[i] && address_of[k] <= last[i]) {
                vectors += is_vector(k)
                scalars += is_scalar(k)
                stack += is_on_stack(k)
            }
        }
        if (vectors > hot_vectors) {
            hot_vectors = vectors
            hot_scalars = scalars
            hot_stack = stack
        }
    }
    all_stack = 0
    for (k = 1; k <= instructions; ++k) {
        all_stack += is_on_stack(k)
    }
    found[wanted] += 1
    if (verbose) {
        printf "%s: %d vectors, %d scalars, %d of the stack; in the function %d of the stack\n", pattern[wanted],
               hot_vectors, hot_scalars, hot_stack, all_stack
    }
    if (loops == 0) {
        complain("no loop")
    }
    compare(hot_vectors < least_vectors[wanted], hot_vectors, "instructions on " registers[wanted],
            "at least " least_vectors[wanted])
    compare(hot_scalars > most_scalars[wanted], hot_scalars, "instructions on single elements",
            "at most " most_scalars[wanted])
    compare(hot_stack > most_stack[wanted], hot_stack, "references to the stack", "at most " most_stack[wanted])
    compare(all_stack > most_in_function[wanted], all_stack, "references to the stack in the whole function",
            "at most " most_in_function[wanted])
    loops = instructions = wanted = 0
}

function compare(is_wrong, count, what, bound) {
    if (is_wrong) {
        complain(count " " what ", not " bound)
    }
}
function complain(what) {
    print set ", " pattern[wanted] ": " what
    failures += 1
}

FNR == NR {
    if ($1 == set) {
        n += 1
        registers[n] = $2
        pattern[n] = $3
        least_vectors[n] = $4
        most_scalars[n] = $5
        most_stack[n] = $6
        most_in_function[n] = $7
    }
    next
}
/^[0-9a-f]+ <.*>:$/ {
    finish_function()
    gsub(/, /, ",") # patterns have no spaces
    for (i = 1; i <= n; ++i) {
        if ($0 ~ pattern[i]) {
            wanted = i
        }
    }
    next
}
wanted && /^ *[0-9a-f]+:\t/ {
    split($0, halves, ":\t")
    gsub(/ /, "", halves[1])
    address_of[++instructions] = padded(halves[1])
    text_of[instructions] = substr($0, index($0, "\t") + 1)
    if (text_of[instructions] ~ /^j[^m]/) {
        split(text_of[instructions], words, " ")
        if (words[2] ~ /^[0-9a-f]+$/ && padded(words[2]) <= address_of[instructions]) {
            first[++loops] = padded(words[2])
            last[loops] = address_of[instructions]
        }
    }
}
END {
    finish_function()
    if (n == 0) {
        print "no bounds for " set
        failures += 1
    }
    for (wanted = 1; wanted <= n; ++wanted) {
        if (found[wanted] != 1) {
            complain("in " found[wanted] + 0 " functions, not in one")
        }
    }
    exit failures != 0
}
