package codec

// Raw returns bytes unchanged: a []byte that shares memory with its input. It is the codec
// of unknown formats.
var Raw = Codec{
	Name:       "raw",
	Extensions: []string{"bin", "raw"},
	Lossless:   true,
	Decode:     func(b []byte) (any, error) { return b, nil },
	Encode: func(v any) ([]byte, error) {
		switch v := v.(type) {
		case []byte:
			return v, nil
		case string:
			return []byte(v), nil
		}
		return nil, unsupported("raw", v, "bytes or a string")
	},
}
