package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/quality"
	"hippocampus/cmd/bench/target"
)

// conversationCommands measure servers that conversations with questions were reported to.
func conversationCommands() []*cobra.Command {
	return []*cobra.Command{
		measureConversations("prompts", "Recall of questions that stand inside of pasted code, logs and mail",
			quality.MeasurePrompts),
		measureConversations("long", "What contexts hold of conversations with messages of 3,000 characters",
			quality.MeasureLong),
		measureConversations("answers", "How often contexts literally hold the answers to questions",
			quality.MeasureAnswers),
		measureConversations("misses", "At which stage of a recall evidence is lost", quality.MeasureMisses),
		measureConversations("recollect", "What recalls recollect of users half of whose messages have faded",
			quality.Recollect),
	}
}

func measureConversations[R report](
	name, short string, measure func(context.Context, quality.Options) (R, error),
) *cobra.Command {
	var size, file string
	var settings []string
	c := &cobra.Command{
		Use: name + " DIR|FILE...", Short: short, Args: someConversations,
		RunE: func(c *cobra.Command, paths []string) error {
			r, err := measure(c.Context(), quality.Options{
				Size: target.Size(size), Settings: settings, Paths: paths, Progress: os.Stderr,
			})
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	sizeFlag(c, &size, target.Small)
	settingsFlag(c, &settings)
	jsonFlag(c, &file)
	return c
}

func someConversations(_ *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		return errors.New("name the folders or files that hold conversations, such as cmd/bench/testdata/zh")
	}
	return nil
}
