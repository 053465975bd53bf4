package quality

import (
	"context"
	"errors"

	"hippocampus/cmd/bench/recording"
)

// ChatModel is the chat model of a measurement.
type ChatModel struct {
	URL    string // base URL of its endpoint
	Name   string
	Key    string // empty: the endpoint needs no key
	Record string // file that receives its prompts and answers; may be empty
	Replay string // file of a recording that answers in its place; then URL is empty
}

// modelSettings make a measurement with a chat model the same for a slow model as for a
// fast one: the model has time to route, and no reflection starts by itself at a moment
// that depends on the speed.
var modelSettings = []string{
	"HIPPOCAMPUS_ROUTER_TIMEOUT=1m", "HIPPOCAMPUS_API_WAIT_TIMEOUT=110s", "HIPPOCAMPUS_REFLECTION_IMPORTANCE=1000",
}

// RunWithModel reports the conversations as turns to a server with a chat model, and asks
// their questions with default settings. A prompt that a replayed recording lacks is an
// error that names the prompt.
func RunWithModel(ctx context.Context, o Options, m ChatModel) (report Report, err error) {
	report = Report{Size: string(o.Size), Chat: m.Name}
	conversations, err := load(o.Paths)
	if err != nil {
		return report, err
	}
	for _, c := range conversations {
		report.Conversations = append(report.Conversations, c.user())
	}
	err = m.serve(ctx, func(ctx context.Context, settings []string) error {
		o.Settings, o.model = append(settings, o.Settings...), true
		through, results, err := throughTurns(ctx, o, conversations, Lags)
		report.Through, report.Results = &through, results
		return err
	})
	return report, err
}

// serve calls measure with the settings of a server that uses the model, and records
// its answers or replays them.
func (m ChatModel) serve(ctx context.Context, measure func(context.Context, []string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	switch {
	case m.Replay != "":
		recorded, err := recording.Read(m.Replay)
		if err != nil {
			return err
		}
		player := recording.NewPlayer(recorded, cancel)
		defer player.Close()
		err = measure(ctx, m.settings(player.URL()))
		return errors.Join(context.Cause(ctx), err)
	case m.Record != "":
		recorder, err := recording.NewRecorder(m.URL)
		if err != nil {
			return err
		}
		defer recorder.Close()
		if err := measure(ctx, m.settings(recorder.URL())); err != nil {
			return err
		}
		return recorder.Recording().Write(m.Record)
	}
	return measure(ctx, m.settings(m.URL))
}

// settings of a server that uses the model at a base URL.
func (m ChatModel) settings(url string) []string {
	key := m.Key
	if key == "" {
		key = "bench"
	}
	return append([]string{
		"DEEPSEEK_API_KEY=" + key, "DEEPSEEK_API_BASE=" + url,
		"MEMORY_SCORER_MODEL=" + m.Name, "MEMORY_ROUTER_MODEL=" + m.Name,
	}, modelSettings...)
}
