package array

import "errors"

// InOrder copies the elements of an array into C order (the last index varies fastest).
// src holds elements of size bytes; the one with index (i, j, ...) is number
// i*strides[0] + j*strides[1] + ... of them. shape and strides have one length and no
// negative numbers. InOrder returns an error if an element is outside src.
func InOrder(src []byte, shape, strides []int, size int) ([]byte, error) {
	n, last := 1, 0
	for i, dim := range shape {
		n *= dim
		last += (dim - 1) * strides[i]
	}
	if n == 0 {
		return nil, nil
	}
	if (last+1)*size > len(src) || n*size > len(src) {
		return nil, errors.New("array: elements lie outside the data")
	}
	dst, index := make([]byte, 0, n*size), make([]int, len(shape))
	for at := 0; len(dst) < n*size; {
		dst = append(dst, src[at*size:(at+1)*size]...)
		for i := len(shape) - 1; i >= 0; i-- {
			at += strides[i]
			if index[i]++; index[i] < shape[i] {
				break
			}
			at -= strides[i] * shape[i]
			index[i] = 0
		}
	}
	return dst, nil
}
