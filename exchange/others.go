package exchange

import (
	"context"
	"encoding/json"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// exportOthers writes what is no memory, and counts it.
func (s *Service) exportOthers(ctx context.Context, what Selection, counts Counts, out *json.Encoder) error {
	of := db.Extent{AppID: what.AppID, UserID: what.UserID, Limit: pageLines}
	say := func(kind Kind, key string, line any) error {
		counts[kind]++
		return out.Encode(map[string]any{key: line})
	}
	err := each(of.Limit, func(after *memory.Fact) ([]memory.Fact, error) { return s.records.ExportFacts(ctx, of, after) },
		func(f memory.Fact) error { return say(Facts, "fact", factLineOf(f)) })
	if err != nil {
		return err
	}
	err = each(of.Limit, func(after *memory.Instruction) ([]memory.Instruction, error) {
		return s.records.ExportInstructions(ctx, of, after)
	},
		func(i memory.Instruction) error {
			if err := say(Instructions, "instruction", instructionLineOf(i)); err != nil {
				return err
			}
			return s.texts(ctx, i, func(v memory.InstructionVersion) error {
				return say(Versions, "instruction_version", versionLineOf(i.Scope, i.Name, v))
			})
		})
	if err != nil {
		return err
	}
	err = each(of.Limit, func(after *memory.Workflow) ([]memory.Workflow, error) {
		return s.records.ExportWorkflows(ctx, of, after)
	},
		func(w memory.Workflow) error { return say(Skills, "skill", skillLineOf(w)) })
	if err != nil {
		return err
	}
	err = each(of.Limit, func(after *db.CountedOutcome) ([]db.CountedOutcome, error) {
		return s.records.ExportOutcomes(ctx, of, after)
	},
		func(o db.CountedOutcome) error { return say(Outcomes, "outcome", outcomeLineOf(o)) })
	if err != nil {
		return err
	}
	return each(of.Limit, func(after *memory.Conversation) ([]memory.Conversation, error) {
		return s.records.ExportConversations(ctx, of, after)
	},
		func(c memory.Conversation) error {
			if err := say(Conversations, "conversation", conversationLineOf(c)); err != nil {
				return err
			}
			return s.exportTalk(ctx, c, counts, say)
		})
}

// texts reads the versions that an instruction had when it was read, the newest
// first: one that is published meanwhile is not among them.
func (s *Service) texts(ctx context.Context, i memory.Instruction, write func(memory.InstructionVersion) error) error {
	return each(pageTexts, func(after *memory.InstructionVersion) ([]memory.InstructionVersion, error) {
		below := i.Latest + 1
		if after != nil {
			below = after.Number
		}
		return s.records.InstructionVersions(ctx, i.Scope, i.Name, below, pageTexts)
	}, write)
}

// each writes what pages of a size hold, one page after the other.
func each[T any](size int, page func(after *T) ([]T, error), write func(T) error) error {
	for after := (*T)(nil); ; {
		found, err := page(after)
		if err != nil {
			return err
		}
		for _, item := range found {
			if err := write(item); err != nil {
				return err
			}
		}
		if len(found) < size {
			return nil
		}
		after = &found[len(found)-1]
	}
}
