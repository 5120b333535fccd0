package key

import (
	"encoding/binary"
	"reflect"
	"strconv"
	"unsafe"
)

// structure fills the plan of a type that is encoded by its structure.
func (c *compiler) structure(p *plan) (err *UnkeyableError) {
	t := p.typ
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		p.encode, p.flat = encode8, true
	case reflect.Int16, reflect.Uint16:
		p.encode, p.flat = encode16, littleEndian
	case reflect.Int32, reflect.Uint32:
		p.encode, p.flat = encode32, littleEndian
	case reflect.Int64, reflect.Uint64:
		p.encode, p.flat = encode64, littleEndian
	case reflect.Int:
		p.encode, p.flat = encodeInt, littleEndian && strconv.IntSize == 64
	case reflect.Uint:
		p.encode, p.flat = encodeUint, littleEndian && strconv.IntSize == 64
	case reflect.Float32:
		p.encode, p.flat = encode32, littleEndian
	case reflect.Float64:
		p.encode, p.flat = encode64, littleEndian
	case reflect.Complex64:
		p.encode, p.flat = encodeComplex64, littleEndian
	case reflect.Complex128:
		p.encode, p.flat = encodeComplex128, littleEndian
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
		err = &UnkeyableError{Type: t, Reason: kindName(t) + " value cannot be keyed", Fix: fixExclude}
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

// littleEndian says that numbers in memory equal their encodings.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

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

func encodeComplex64(e *encoder, p unsafe.Pointer) error {
	e.uint32((*[2]uint32)(p)[0])
	e.uint32((*[2]uint32)(p)[1])
	return nil
}

func encodeComplex128(e *encoder, p unsafe.Pointer) error {
	e.uint64((*[2]uint64)(p)[0])
	e.uint64((*[2]uint64)(p)[1])
	return nil
}

func encodeString(e *encoder, p unsafe.Pointer) error {
	e.string(*(*string)(p))
	return nil
}
