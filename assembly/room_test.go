package assembly

import (
	"testing"

	"hippocampus/internal/memory"
)

func TestRoomMemories_FillTheRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		room Room
		want int
	}{
		{"tokens", Tokens(500, 0), 31},
		{"tokens without the response", Tokens(500, 0.5), 15},
		{"characters", Characters(500, 0), 10},
		{"a small room", Characters(40, 0), 0},
		{"a large room", ModelRoom("gpt-4o", 0, 0), memory.MaxLimit},
	} {
		if got := c.room.Memories(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
