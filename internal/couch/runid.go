package couch

import (
	"math/rand/v2"
	"time"
)

// NewRunID names a run: the time in UTC and six letters or digits, such as
// "261130t215501k3f9qz". It is part of the names of the run's databases.
func NewRunID(now time.Time, r *rand.Rand) string {
	const alphabet = "abcdefghijkmnpqrstuvwxyz23456789"
	id := []byte(now.UTC().Format("060102t150405"))
	for range 6 {
		id = append(id, alphabet[r.IntN(len(alphabet))])
	}
	return string(id)
}
