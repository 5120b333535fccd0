package disk

import (
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// similar returns the n-th of many small results of one function: their provenance differs in 40 of 500 bytes.
func similar(n int) store.Record {
	provenance := storetest.Payload(3, 500)
	copy(provenance[300:], storetest.Payload(uint64(n)<<8, 40))
	return store.Record{
		Key: storetest.Key(n), Type: 7, Payload: storetest.Payload(uint64(n), 66), Provenance: provenance,
		Cost: time.Duration(50_000 + n%1000), Created: time.Unix(1_700_000_000, int64(n)*60_000),
	}
}

func similarFrom(from, n int) []store.Record {
	records := make([]store.Record, n)
	for i := range records {
		records[i] = similar(from + i)
	}
	return records
}
