package attribute

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
)

var (
	hanFavourite = lazyregexp.New(`^(?:我|用户)?(?:现在|目前|如今)?最(?:喜欢|爱|喜爱|钟爱)的(\P{P}{1,8}?)(?:现在)?(?:是|变成了?|换成了?|改成了?)` +
		`(\P{P}+?)了?$`)

	hanNotAllergic = lazyregexp.New(`^(?:我|用户)?(?:现在|其实|已经)?(?:不再)?对(\P{P}{1,8}?)(?:已经|现在)?(?:不再?|并不|没有?)过敏了?$`)
	hanStopAllergy = lazyregexp.New(`^(?:我|用户)?(?:现在|其实|已经)?不再?对(\P{P}{1,8}?)过敏了?$`)
	hanAllergic    = lazyregexp.New(`^(?:我|用户)?(?:从小|一直|现在)?对(\P{P}{1,8}?)(?:严重|有点|会|很|有)?过敏$`)

	hanFearless = hanChange(`(?:不再害?怕|再也不害?怕|不害?怕|克服了对)(\P{P}{1,8}?)(?:的恐惧)?了?$`)
	hanFears    = hanChange(`(?:害怕|怕)(\P{P}{1,8}?)$`)

	hanDislikes = hanChange(`(?:再也|真的|一点也|一点都)?(?:讨厌|厌恶|受不了|不再喜欢|不再爱|不喜欢|不太?爱|腻了|反感|[吃喝看听玩]不[了惯下])(\P{P}{1,10}?)了?$`)
	hanBored    = hanChange(`对(\P{P}{1,8}?)(?:没有?兴趣|失去了?兴趣|不感兴趣|不再感兴趣|腻)了?$`)
	hanKeen     = hanChange(`对(\P{P}{1,8}?)(?:很|非常)?感兴趣$`)
	hanRather   = lazyregexp.New(`^(?:我)?(?:比起|相比)(\P{P}{1,6}?)[，,]?(?:我)?(?:现在)?更(?:喜欢|爱)[吃喝看听]?(\P{P}{1,6}?)了?$`)
	hanLikes    = hanChange(`(?:喜欢上|爱上|迷上|喜欢|热爱|喜爱|钟爱|爱)了?(\P{P}{1,10}?)了?$`)

	hanUse = lazyregexp.New(`^[吃喝看听玩读打]`)
	hanIt  = lazyregexp.New(`^[它他她你这那的我死不]|[和跟与]`)
)

// hanAttitude reads the attitude or the favourite that a clause states.
func hanAttitude(part string) (*attitude, *Claim) {
	if m := hanFavourite.FindStringSubmatch(part); m != nil {
		return nil, &Claim{Attribute: "favourite", Kind: m[1], Value: []string{m[2]}}
	}
	if m := hanRather.FindStringSubmatch(part); m != nil {
		kinds := []string{m[1], m[2]}
		slices.Sort(kinds)
		return nil, &Claim{Attribute: "favourite", Kind: strings.Join(kinds, "或"), Value: []string{m[2]}}
	}
	for _, f := range []struct {
		kind     string
		positive bool
		pattern  *lazyregexp.Regexp
	}{
		{allergy, false, hanNotAllergic}, {allergy, false, hanStopAllergy}, {allergy, true, hanAllergic},
		{fear, false, hanFearless}, {fear, true, hanFears},
		{liking, false, hanDislikes}, {liking, false, hanBored}, {liking, true, hanKeen}, {liking, true, hanLikes},
	} {
		m := f.pattern.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		if hanIt.MatchString(m[1]) {
			return nil, nil
		}
		named := m[1]
		if short := hanUse.ReplaceAllString(named, ""); len([]rune(short)) > 1 {
			named = short
		}
		return &attitude{kind: f.kind, positive: f.positive, han: strings.TrimSuffix(named, "音乐")}, nil
	}
	return nil, nil
}
