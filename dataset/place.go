package dataset

import "context"

// A Place is where in a flow a maker is run: what to call it for people. No result may
// depend on it.
type Place struct {
	Node  string
	Index int // of the sample in the node
}

type placeKey struct{}

func withPlace(ctx context.Context, p Place) context.Context {
	return context.WithValue(ctx, placeKey{}, p)
}

// PlaceOf returns where the maker is that runs under ctx. ok is false where none does.
func PlaceOf(ctx context.Context) (p Place, ok bool) {
	p, ok = ctx.Value(placeKey{}).(Place)
	return p, ok
}
