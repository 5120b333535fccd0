package key

import (
	"reflect"
	"strconv"
	"unsafe"
)

// structure fills the plan of a type that is encoded by what it is made of.
func (c *compiler) structure(p *plan) (err *UnkeyableError) {
	t := p.typ
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		p.encode, p.layout = encode8, plainBytes
	case reflect.Int16, reflect.Uint16:
		p.encode, p.layout = encode16, ifLittleEndian(plainBytes)
	case reflect.Int32, reflect.Uint32:
		p.encode, p.layout = encode32, ifLittleEndian(plainBytes)
	case reflect.Int64, reflect.Uint64:
		p.encode, p.layout = encode64, ifLittleEndian(plainBytes)
	case reflect.Int:
		p.encode, p.layout = encodeInt, ifLittleEndian(wordLayout)
	case reflect.Uint:
		p.encode, p.layout = encodeUint, ifLittleEndian(wordLayout)
	case reflect.Float32:
		p.encode, p.layout = encodeFloat32, ifLittleEndian(float32s)
	case reflect.Float64:
		p.encode, p.layout = encodeFloat64, ifLittleEndian(float64s)
	case reflect.Complex64:
		p.encode, p.layout = encodeComplex64, ifLittleEndian(float32s)
	case reflect.Complex128:
		p.encode, p.layout = encodeComplex128, ifLittleEndian(float64s)
	case reflect.String:
		p.encode = encodeString
	case reflect.Interface:
		p.encode = encodeInterface(t)
	case reflect.Pointer:
		err = c.pointer(p)
	case reflect.Slice:
		err = c.slice(p)
	case reflect.Array:
		err = c.array(p)
	case reflect.Map:
		err = c.mapping(p)
	case reflect.Struct:
		err = c.structFields(p)
	default: // functions, channels, addresses
		err = &UnkeyableError{Type: t, Reason: kindName(t) + " value cannot be keyed", Cure: cureExclude}
	}
	return err
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Chan:
		return "channel"
	case reflect.UnsafePointer:
		return "unsafe pointer"
	}
	return t.Kind().String()
}

func ifLittleEndian(l layout) layout {
	if one := uint16(1); *(*byte)(unsafe.Pointer(&one)) == 0 {
		return noLayout
	}
	return l
}

// wordLayout is the layout of int and uint, which are encoded in 64 bits.
const wordLayout = layout(plainBytes * (strconv.IntSize / 64))

func encode8(e *encoder, p unsafe.Pointer) error {
	e.buf = append(e.buf, *(*byte)(p))
	return nil
}

func encode16(e *encoder, p unsafe.Pointer) error {
	u := *(*uint16)(p)
	e.buf = append(e.buf, byte(u), byte(u>>8))
	return nil
}

func encode32(e *encoder, p unsafe.Pointer) error {
	e.uint32(*(*uint32)(p))
	return nil
}

func encode64(e *encoder, p unsafe.Pointer) error {
	e.uint64(*(*uint64)(p))
	return nil
}

func encodeInt(e *encoder, p unsafe.Pointer) error {
	e.uint64(uint64(*(*int)(p)))
	return nil
}

func encodeUint(e *encoder, p unsafe.Pointer) error {
	e.uint64(uint64(*(*uint)(p)))
	return nil
}

func encodeFloat32(e *encoder, p unsafe.Pointer) error {
	e.float32(*(*float32)(p))
	return nil
}

func encodeFloat64(e *encoder, p unsafe.Pointer) error {
	e.float64(*(*float64)(p))
	return nil
}

func encodeComplex64(e *encoder, p unsafe.Pointer) error {
	c := *(*complex64)(p)
	e.float32(real(c))
	e.float32(imag(c))
	return nil
}

func encodeComplex128(e *encoder, p unsafe.Pointer) error {
	c := *(*complex128)(p)
	e.float64(real(c))
	e.float64(imag(c))
	return nil
}

func encodeString(e *encoder, p unsafe.Pointer) error {
	e.string(*(*string)(p))
	return nil
}
