package inventory

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strconv"
	"unicode"
	"unicode/utf8"
)

const (
	maxDiagnosed = 2000  // bytes of diagnostic notation, about
	maxString    = 80    // bytes of one string that are shown
	maxNested    = 10000 // containers within containers
)

var errNotCBOR = errors.New("inventory: not one CBOR item of known length")

// diagnose returns CBOR in diagnostic notation (RFC 8949 section 8), cut where
// strings or the whole are long: "..." stands for what was left out. It reads
// all of b, which must be exactly one item, and keeps no more than it returns.
func diagnose(b []byte) (text string, err error) {
	d := diagnosis{b: b}
	if !d.item(0) || len(d.b) > 0 {
		return "", errNotCBOR
	}
	return string(d.out), nil
}

// A diagnosis reads from b and writes to out until that is long enough.
type diagnosis struct {
	b   []byte
	out []byte
	cut bool
}

func (d *diagnosis) write(text string) {
	switch {
	case d.cut:
	case len(d.out) > maxDiagnosed:
		d.cut = true
		d.out = append(d.out, "..."...)
	default:
		d.out = append(d.out, text...)
	}
}

// item reads one item, and reports whether it is sound.
func (d *diagnosis) item(depth int) bool {
	major, info, n, ok := d.head()
	if !ok || depth > maxNested {
		return false
	}
	switch major {
	case 0:
		d.write(strconv.FormatUint(n, 10))
	case 1:
		negative := new(big.Int).SetUint64(n)
		d.write(negative.Not(negative).String())
	case 2, 3:
		return d.string(major, n)
	case 4:
		return d.elements("[", "]", n, func() bool { return d.item(depth + 1) })
	case 5:
		return d.elements("{", "}", n, func() bool {
			if !d.item(depth + 1) {
				return false
			}
			d.write(": ")
			return d.item(depth + 1)
		})
	case 6:
		d.write(strconv.FormatUint(n, 10))
		return d.elements("(", ")", 1, func() bool { return d.item(depth + 1) })
	default:
		return d.simple(info, n)
	}
	return true
}

// head reads the initial byte of an item and its argument.
func (d *diagnosis) head() (major, info byte, n uint64, ok bool) {
	if len(d.b) == 0 {
		return 0, 0, 0, false
	}
	major, info = d.b[0]>>5, d.b[0]&31
	d.b = d.b[1:]
	switch {
	case info < 24:
		return major, info, uint64(info), true
	case info > 27:
		return 0, 0, 0, false // reserved, or of unknown length
	}
	size := 1 << (info - 24)
	if len(d.b) < size {
		return 0, 0, 0, false
	}
	var wide [8]byte
	copy(wide[8-size:], d.b[:size])
	d.b = d.b[size:]
	return major, info, binary.BigEndian.Uint64(wide[:]), true
}

func (d *diagnosis) elements(open, end string, n uint64, one func() bool) bool {
	if n > uint64(len(d.b)) {
		return false // each takes a byte at least
	}
	d.write(open)
	for i := range n {
		if i > 0 {
			d.write(", ")
		}
		if !one() {
			return false
		}
	}
	d.write(end)
	return true
}

func (d *diagnosis) string(major byte, n uint64) bool {
	if n > uint64(len(d.b)) {
		return false
	}
	s := d.b[:n]
	d.b = d.b[n:]
	if major == 3 && !utf8.Valid(s) {
		return false
	}
	shown, rest := s, ""
	if len(s) > maxString+len("...") {
		shown, rest = s[:maxString], "..."
	}
	if major == 2 {
		d.write("h'" + hex.EncodeToString(shown) + rest + "'")
	} else {
		d.write(quoted(shown, rest))
	}
	if rest != "" {
		d.write(" / " + strconv.Itoa(len(s)) + " bytes /")
	}
	return true
}

// quoted writes text in quotes as JSON does, of which rest stands for what was
// cut. What does not show is escaped.
func quoted(text []byte, rest string) string {
	for !utf8.Valid(text) {
		text = text[:len(text)-1] // half a character, where it was cut
	}
	out := []byte{'"'}
	for _, r := range string(text) {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\r':
			out = append(out, `\r`...)
		case r == '\t':
			out = append(out, `\t`...)
		case unicode.IsPrint(r):
			out = utf8.AppendRune(out, r)
		default:
			out = appendEscaped(out, r)
		}
	}
	return string(append(append(out, rest...), '"'))
}

// appendEscaped appends \u and four digits for each unit of UTF-16.
func appendEscaped(out []byte, r rune) []byte {
	units := []rune{r}
	if r > 0xffff {
		r -= 0x10000
		units = []rune{0xd800 + r>>10, 0xdc00 + r&0x3ff}
	}
	for _, u := range units {
		out = append(out, `\u`...)
		out = append(out, strconv.FormatInt(0x10000+int64(u), 16)[1:]...)
	}
	return out
}

// simple writes what is neither number, string nor container, and floats.
func (d *diagnosis) simple(info byte, n uint64) bool {
	switch info {
	case 20, 21, 22, 23:
		d.write([]string{"false", "true", "null", "undefined"}[info-20])
	case 24:
		if n < 32 {
			return false
		}
		d.write("simple(" + strconv.FormatUint(n, 10) + ")")
	case 25:
		d.write(float(float16(uint16(n))))
	case 26:
		d.write(float(float64(math.Float32frombits(uint32(n)))))
	case 27:
		d.write(float(math.Float64frombits(n)))
	default:
		d.write("simple(" + strconv.FormatUint(n, 10) + ")")
	}
	return true
}

// float16 returns the value of an IEEE 754 binary16 number.
func float16(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		v = math.Inf(1)
		if fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 == 1 {
		v = -v
	}
	return v
}

// float writes a number so that it is seen to be no integer.
func float(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
