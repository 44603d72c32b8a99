package differential

import (
	"errors"
	"fmt"
	"strings"
)

// shrink leaves out steps as long as the sequence still ends in the same kind of difference, and tells what is left.
func shrink(st *stage, seed uint64, steps []step, first *difference) string {
	last := first
	fails := func(candidate []step) (*difference, int) {
		people, world := begin(chanceOf(seed), st.rent)
		if err := st.begin(people, world); err != nil {
			return nil, 0
		}
		for i, next := range candidate {
			if err := st.play(next); err != nil {
				var found *difference
				if errors.As(err, &found) && found.kind == first.kind {
					return found, i + 1
				}
				return nil, 0
			}
		}
		return nil, 0
	}
	for size := max(1, len(steps)/2); size >= 1; {
		shorter := false
		for at := 0; at < len(steps); {
			candidate := append(append([]step(nil), steps[:at]...), steps[min(at+size, len(steps)):]...)
			if found, played := fails(candidate); found != nil {
				steps, last, shorter = candidate[:played], found, true
			} else {
				at += size
			}
		}
		if size == 1 && !shorter {
			break
		}
		size = max(1, size/2)
	}
	return fmt.Sprintf("%s\n%v", retell(st, seed, steps), last)
}

// retell plays steps once more and writes them down.
func retell(st *stage, seed uint64, steps []step) string {
	people, world := begin(chanceOf(seed), st.rent)
	if err := st.begin(people, world); err != nil {
		return err.Error()
	}
	var page strings.Builder
	fmt.Fprintf(&page, "At %d:\n", world.Now)
	aloud := st.aloud
	st.aloud = func(line string) { page.WriteString(line + "\n") }
	defer func() { st.aloud = aloud }()
	for _, next := range steps {
		if st.play(next) != nil {
			break
		}
	}
	return page.String()
}
