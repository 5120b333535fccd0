package codec

// Raw carries bytes as they are: a []byte that shares the memory it was
// decoded from. It stands in for unknown formats.
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
		return nil, unsupported("raw", v, "bytes or a text")
	},
}
