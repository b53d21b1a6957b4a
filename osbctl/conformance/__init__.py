"""What a live broker answers, held against the contract of its catalog endpoint."""
