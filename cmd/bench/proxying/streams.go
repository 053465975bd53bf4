package proxying

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// openers is how many streams are opened at the same time.
const openers = 8

// settled is how long the streams stay open before the memory is read.
const settled = 5 * time.Second

// openStreams opens streams through the server, and as many through the reverse proxy, and reads how much memory each
// process uses. Then every answer is read to its end.
func (m *measurement) openStreams(ctx context.Context) error {
	if m.Open == 0 {
		return nil
	}
	held := make([]*answer, 0, 2*m.Open)
	defer func() {
		for _, answer := range held {
			answer.close()
		}
	}()
	for _, of := range []struct {
		name     string
		caller   *caller
		resident func() (int64, error)
	}{
		{"server", m.proxied, m.server.Process().Proportional}, {"reverse proxy", m.reversed, m.plain.resident},
	} {
		fmt.Fprintf(m.Progress, "%d streams of the %s\n", m.Open, of.name)
		result := Held{Name: of.name, Open: m.Open}
		var err error
		if result.Before, err = of.resident(); err != nil {
			return err
		}
		opened, err := m.open(ctx, of.caller)
		held = append(held, opened...)
		if err != nil {
			return err
		}
		for _, answer := range opened {
			if answer.injected {
				result.Injected++
			}
		}
		select {
		case <-time.After(settled):
		case <-ctx.Done():
			return ctx.Err()
		}
		if result.During, err = of.resident(); err != nil {
			return err
		}
		m.report.Streams = append(m.report.Streams, result)
	}
	m.model.release()
	var reading errgroup.Group
	for _, answer := range held {
		reading.Go(answer.rest)
	}
	return reading.Wait()
}

// open opens streams that stay open, and returns the opened ones.
func (m *measurement) open(ctx context.Context, of *caller) (opened []*answer, err error) {
	var opening errgroup.Group
	opening.SetLimit(openers)
	answers := make([]*answer, m.Open)
	for i := range answers {
		opening.Go(func() (err error) {
			answers[i], err = of.ask(ctx, m.user(i), m.Data.Query(i), waiting)
			return err
		})
	}
	err = opening.Wait()
	for _, answer := range answers {
		if answer != nil {
			opened = append(opened, answer)
		}
	}
	return opened, err
}
