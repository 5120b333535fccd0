package dataset

import "github.com/larder-data/larder/array"

// An ArrayOrigin is an origin of an array that lies where it can be read into memory of
// the caller, so that it is copied once.
type ArrayOrigin interface {
	Origin
	// Array is the type and the shape of the array. The shape must not be changed.
	Array() (dtype array.DType, shape []int)
	// ReadArray reads all elements, in C order and little-endian, into dst, which has as
	// many bytes as they take.
	ReadArray(dst []byte) error
}

// Unread returns where the item's array may be read from in place of its value: ok is
// false where there is no such place, or where the value is at hand, or is to be
// remembered.
func (it *Item) Unread() (o ArrayOrigin, ok bool) {
	if o, ok = it.origin.(ArrayOrigin); !ok {
		return nil, false
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	return o, !it.read && !it.held && !it.reading
}
