def estimate(word: str) -> float:
    return max(1, len(word) / 4)


def runs(word: str) -> list[str]:
    return [word]
