"""The whole system at half of its peak rate for as long as one likes: does anything grow?"""
