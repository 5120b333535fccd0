package dataset

import "github.com/larder-data/larder/array"

// An ArrayOrigin is the origin of an array that can be read directly into memory of the
// caller, with one copy.
type ArrayOrigin interface {
	Origin
	// Array returns the type and the shape of the array. The shape must not be changed.
	Array() (dtype array.DType, shape []int)
	// ReadArray reads all elements, in C order and little-endian, into dst, which has
	// exactly the length that they take.
	ReadArray(dst []byte) error
}

// Unread returns an origin from which the item's array can be read instead of through
// its value. ok is false if there is no such origin, or if the value is in memory or is
// to stay there.
func (it *Item) Unread() (o ArrayOrigin, ok bool) {
	if o, ok = it.origin.(ArrayOrigin); !ok {
		return nil, false
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	return o, !it.read && !it.retained && !it.reading
}
