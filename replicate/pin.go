package replicate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"couchgauge/internal/couch"
)

// pinned is the setting that every job's time depends on by chance: each
// first sleeps up to so many milliseconds (fact 21).
const pinned = "replicator/startup_jitter"

// pin makes a host's start-up delay as short as it can be.
func (s *Session) pin(ctx context.Context, h *host) error {
	varied := slices.ContainsFunc(s.plan.Config, func(c Setting) bool { return c.Name == pinned })
	if s.plan.NoPin || varied {
		return nil
	}
	err := h.set(ctx, pinned, "1")
	var refused *couch.Error
	switch {
	case errors.As(err, &refused):
		s.notes = append(s.notes, fmt.Sprintf("%s of %s could not be pinned (%s): startup_s varies by some seconds, by chance",
			pinned, h.peer, strings.TrimSpace(fmt.Sprint(refused.Status, " ", refused.Code))))
		return nil
	case err != nil:
		return fmt.Errorf("pin %s of %s: %w", pinned, h.peer, err)
	}
	s.notes = append(s.notes, fmt.Sprintf("%s of %s pinned to 1 ms", pinned, h.peer))
	return nil
}
