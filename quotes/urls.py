"""The addresses of proposals and quotes."""

from django.urls import URLPattern

app_name = "quotes"
urlpatterns: list[URLPattern] = []
