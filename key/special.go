package key

import (
	"image"
	"math/big"
	"net/url"
	"reflect"
	"time"
	"unsafe"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// special returns the encoding of a type of the standard library that has its own one,
// else nil.
func special(t reflect.Type) func(*encoder, unsafe.Pointer) error {
	switch t {
	case reflect.TypeFor[time.Time]():
		return encodeTime
	case reflect.TypeFor[url.Userinfo]():
		return encodeUserinfo
	case reflect.TypeFor[big.Int]():
		return encodeBigInt
	case reflect.TypeFor[big.Rat]():
		return encodeBigRat
	case reflect.TypeFor[big.Float]():
		return encodeBigFloat
	case reflect.TypeFor[image.RGBA]():
		return encodeRGBA
	case reflect.TypeFor[image.RGBA64]():
		return encodeRGBA64
	case reflect.TypeFor[image.NRGBA]():
		return encodeNRGBA
	case reflect.TypeFor[image.NRGBA64]():
		return encodeNRGBA64
	case reflect.TypeFor[image.Alpha]():
		return encodeAlpha
	case reflect.TypeFor[image.Alpha16]():
		return encodeAlpha16
	case reflect.TypeFor[image.Gray]():
		return encodeGray
	case reflect.TypeFor[image.Gray16]():
		return encodeGray16
	case reflect.TypeFor[image.CMYK]():
		return encodeCMYK
	case reflect.TypeFor[image.Paletted]():
		return encodePaletted
	case reflect.TypeFor[image.YCbCr]():
		return encodeYCbCr
	case reflect.TypeFor[image.NYCbCrA]():
		return encodeNYCbCrA
	}
	return nil
}

// encodeTime encodes the instant and the zone with all of its rules, because two zones
// of one name may have different rules.
func encodeTime(e *encoder, p unsafe.Pointer) error {
	t := (*time.Time)(p)
	e.uint64(uint64(t.Unix()))
	e.uint32(uint32(t.Nanosecond()))
	loc := t.Location()
	switch loc {
	case time.UTC:
		e.buf = append(e.buf, 0)
		return nil
	case time.Local:
		e.buf = append(e.buf, 1)
	default:
		e.buf = append(e.buf, 2)
	}
	rules, ok := deepequal.LocationDigest(loc)
	if !ok {
		return &UnkeyableError{Type: reflect.TypeFor[time.Time](), Reason: "the rules of the zone " + loc.String() + " cannot be read", Fix: "use its UTC method"}
	}
	e.raw(rules[:])
	return nil
}

func encodeUserinfo(e *encoder, p unsafe.Pointer) error {
	u := (*url.Userinfo)(p)
	password, has := u.Password()
	e.string(u.Username())
	e.string(password)
	e.buf = append(e.buf, 0)
	if has {
		e.buf[len(e.buf)-1] = 1
	}
	return nil
}

func encodeBigInt(e *encoder, p unsafe.Pointer) error {
	e.bigInt((*big.Int)(p))
	return nil
}

func (e *encoder) bigInt(i *big.Int) {
	e.buf = append(e.buf, byte(i.Sign()))
	b := i.Bytes()
	e.length(len(b))
	e.raw(b)
}

func encodeBigRat(e *encoder, p unsafe.Pointer) error {
	r := (*big.Rat)(p)
	e.bigInt(r.Num())
	e.bigInt(r.Denom())
	return nil
}

// encodeBigFloat writes the number in hexadecimal, which is exact and has no trailing
// zeros. The number in memory may have some.
func encodeBigFloat(e *encoder, p unsafe.Pointer) error {
	f := (*big.Float)(p)
	e.uint32(uint32(f.Prec()))
	e.buf = append(e.buf, byte(f.Mode()), byte(f.Acc()))
	e.string(f.Text('p', 0))
	return nil
}
